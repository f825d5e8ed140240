import { render } from 'preact';
import { App } from './app';
import { Report } from './model';
import { RecordingApp } from './recording_app';
import { Recording } from './recording_model';
import { DifferenceApp, SnapshotApp } from './snapshot_app';
import { Difference, Snapshot } from './snapshot_model';
import './style.css';
import { applyStoredTheme } from './theme';

// What the page is of, its JSON tells by its members.
function pageOf(json: any) {
  if (json.snapshot) return <SnapshotApp snapshot={new Snapshot(json)} />;
  if (json.recording) return <RecordingApp recording={new Recording(json)} />;
  if (json.difference) return <DifferenceApp difference={new Difference(json)} />;
  return <App report={new Report(json)} />;
}

applyStoredTheme();
const element = document.getElementById('report')!;
const json = JSON.parse(element.textContent ?? '');
element.remove(); // the text is not needed any more, and may be large
render(pageOf(json), document.getElementById('app')!);
