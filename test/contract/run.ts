import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startHost } from '../../local/host.ts';
import { attempt } from '../deploy/process.ts';
import { pythonWith } from '../deploy/python.ts';
import { Tally } from '../deploy/tally.ts';

/**
 * Schemathesis makes requests from the OpenAPI document, sends them to the embedded host and compares the answers with the
 * document: no 5xx, known statuses, content types and bodies. First as a stranger, then as an administrator.
 * `npm run test:contract` starts Node with room for request lines of any length, which it otherwise answers with 431 before
 * anything of the service runs. `npm run test:contract [text]` asks the operations whose path contains the text. CONTRACT_SEED makes other requests.
 */
const SEED = process.env['CONTRACT_SEED'] ?? '1';
/** Requests an operation. Both runs together take less than three minutes on two cores. */
const EXAMPLES = { stranger: 2, administrator: 4 };
const RUN_MS = 5 * 60_000;
/** What Python 3.11 says when it loses count of how deep it is while it parses. It says nothing of the service. */
const PYTHON_LOST_COUNT = 'AST constructor recursion depth mismatch';

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
];
/** As an administrator these could end the run's own account or token, or switch on maintenance mode for all that follow. */
const NOT_AS_ADMINISTRATOR = [
  '^/application/settings$',
  '^/personal_access_tokens/',
  '^/users/\\{(user_)?id\\}(/(block|ban|deactivate|personal_access_tokens.*))?$',
];

const TOKEN = 'token-of-the-contract-suite';
const root = mkdtempSync(join(tmpdir(), 'lemnos-contract-'));
process.on('exit', () => rmSync(root, { recursive: true, force: true }));
const tally = new Tally();

const python = await pythonWith(join(import.meta.dirname, 'requirements.txt'), 'schemathesis').catch(
  (error: Error) => {
    console.log(`SKIP  Schemathesis cannot be installed: ${error.message.split('\n').at(-1)}`);
    process.exit(0);
  },
);
const host = await startHost({ port: 0, host: '127.0.0.1', dataDir: join(root, 'data') });
await host.invoke('first-administrator', { token: TOKEN });
const asked = (path: string, json?: object) =>
  fetch(`${host.url}/api/v4${path}`, {
    method: json === undefined ? 'GET' : 'POST',
    headers: { 'PRIVATE-TOKEN': TOKEN, 'Content-Type': 'application/json' },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  });
// What the first ids name, so that some requests find something.
await asked('/groups', { name: 'group', path: 'group', visibility: 'public' });
for (const visibility of ['public', 'private'])
  await asked('/projects', { name: visibility, visibility, initialize_with_readme: true });

await tally.step('answers to strangers are what the OpenAPI document says', () =>
  schemathesis(EXAMPLES.stranger, []),
);
await tally.step('answers to an administrator are what the OpenAPI document says', () =>
  schemathesis(EXAMPLES.administrator, [
    ...['--header', `PRIVATE-TOKEN: ${TOKEN}`],
    ...['--exclude-path-regex', NOT_AS_ADMINISTRATOR.join('|')],
  ]),
);
await tally.step('the administrator is still one: no request ended the run’s own token', async () => {
  const { status } = await asked('/user');
  if (status !== 200) throw new Error(`GET /user answers ${status}: exclude what ended the token`);
});
await host.stop();
console.log(`${tally.passed} passed, ${tally.failed} failed`);
process.exit(tally.failed === 0 ? 0 : 1);

/** @throws Error with the report */
async function schemathesis(examples: number, more: readonly string[], again = true): Promise<void> {
  const only = process.argv[2];
  const ran = await attempt(
    python,
    [
      ...['-m', 'schemathesis.cli', 'run', `${host.url}/api/v4/openapi.json`],
      ...['--phases', 'fuzzing', '--max-examples', String(examples), '--seed', SEED, '--no-shrink'],
      ...['--generation-database', 'none', '--checks', CHECKS.join(','), '--continue-on-failure'],
      ...['--workers', '2', '--warnings', 'off', '--suppress-health-check', 'all', '--no-color'],
      ...(only === undefined ? [] : ['--include-path-regex', only]),
      ...more,
    ],
    { cwd: root, timeout: RUN_MS, env: { PATH: process.env['PATH'], HOME: root, COLUMNS: '120' } },
  );
  if (ran.code === 0) return;
  const report = ran.stdout + ran.stderr;
  if (again && report.includes(PYTHON_LOST_COUNT)) return schemathesis(examples, more, false);
  throw new Error(report);
}
