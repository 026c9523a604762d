import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { areas } from '../functions/areas.ts';
import { type Bundle, bundle } from './bundle.ts';

/** Maximum uncompressed size of an API function's bundle, which limits the time of a cold start. */
const API_BUNDLE_LIMIT = 900_000;

const root = join(import.meta.dirname, '..');
const bundles = await bundle(areas, { entries: join(root, 'functions'), output: join(root, 'dist') });

let failed = false;
console.log('function              KB   import ms');
for (const built of bundles) {
  const tooLarge = built.area.kind === 'api' && built.bytes > API_BUNDLE_LIMIT;
  failed ||= tooLarge;
  const line = [
    built.area.name.padEnd(19),
    (built.bytes / 1000).toFixed(0).padStart(5),
    importTime(built).toFixed(0).padStart(11),
  ].join('');
  console.log(tooLarge ? `${line}   over ${API_BUNDLE_LIMIT / 1000} KB` : line);
}
for (const area of areas) {
  if (bundles.some((built) => built.area === area)) continue;
  failed = true;
  console.error(`no entry functions/${area.entry}`);
}
process.exitCode = failed ? 1 : 0;

/** Milliseconds to import the bundle in a new process: the median of three runs. */
function importTime({ directory }: Bundle): number {
  const url = pathToFileURL(join(directory, 'index.mjs')).href;
  const script = `const t = performance.now(); await import(${JSON.stringify(url)}); console.log(performance.now() - t); process.exit()`;
  const times = Array.from({ length: 3 }, () => {
    const run = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      env: { ...process.env, AWS_REGION: 'us-east-1' },
    });
    if (run.status !== 0) throw new Error(`${directory} cannot be imported:\n${brief(run.stderr)}`);
    return Number(run.stdout.trim().split('\n').at(-1));
  });
  return times.sort((a, b) => a - b)[1]!;
}

/** What node reports, without the minified lines that it shows. */
const brief = (report: string): string =>
  report
    .split('\n')
    .filter((line) => line.length < 300)
    .join('\n')
    .trim();
