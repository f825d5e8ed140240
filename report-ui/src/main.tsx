import { render } from 'preact';
import { App } from './app';
import { readReport } from './model';
import './style.css';
import { applyStoredTheme } from './theme';

applyStoredTheme();
const element = document.getElementById('report')!;
const report = readReport(element.textContent ?? '');
element.remove(); // the text is not needed any more, and may be large
render(<App report={report} />, document.getElementById('app')!);
