// Builds one file: the page of leakgate's HTML report, with its script and its style in
// it, and a place for the report's JSON. `npm run build` writes it to where the runner
// takes it from; LEAKGATE_UI_OUT names another folder.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { defineConfig } from 'vite';

const hashOf = (text) => `sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}`;

// What the licences of the libraries in the page ask to be told with it.
function notices() {
  return ['preact', 'uplot', '@tanstack/virtual-core']
    .map((name) => {
      const folder = new URL(`node_modules/${name}/`, import.meta.url);
      const { version } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'));
      const licence = readFileSync(new URL('LICENSE', folder), 'utf8').trim();
      return `${name} ${version}\n\n${licence}`;
    })
    .join('\n\n');
}

function only(pieces, what) {
  if (pieces.length !== 1) throw new Error(`expected one ${what}, got ${pieces.length}`);
  return pieces[0];
}

function singlePage() {
  return {
    name: 'leakgate-single-page',
    enforce: 'post',
    generateBundle(_, bundle) {
      const files = Object.values(bundle);
      const script = only(files.filter((file) => file.type === 'chunk'), 'script').code.trim();
      const style = String(only(files.filter((file) => file.fileName.endsWith('.css')), 'style').source).trim();
      if (/<\/script|<!--/i.test(script)) throw new Error('the script would end its element early');
      if (/<\/style/i.test(style)) throw new Error('the style would end its element early');
      const parts = {
        NOTICES: notices().replaceAll('--', '- -'),
        SCRIPT_HASH: hashOf(script),
        STYLE_HASH: hashOf(style),
        SCRIPT: script,
        STYLE: style,
      };
      const page = readFileSync(new URL('page.html', import.meta.url), 'utf8').replace(
        /@([A-Z_]+)@/g,
        (mark, name) => (name === 'LEAKGATE_REPORT' ? mark : parts[name]),
      );
      if (page.split('@LEAKGATE_REPORT@').length !== 2) throw new Error('not one place for the report');
      for (const name of Object.keys(bundle)) delete bundle[name];
      this.emitFile({ type: 'asset', fileName: 'html_template.html', source: page });
    },
  };
}

export default defineConfig({
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    cssTarget: 'esnext',
    outDir: process.env.LEAKGATE_UI_OUT ?? '../runner/report/formats',
    emptyOutDir: false,
    cssCodeSplit: false,
    modulePreload: false,
    rolldownOptions: { input: 'src/main.tsx', output: { format: 'iife' } },
  },
  plugins: [singlePage()],
});
