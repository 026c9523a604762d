import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { conformance } from './conformance.ts';
import { dynamodbLocal } from './dynamodb-local.ts';
import { type Emulator, startEmulator } from './emulator.ts';
import { gatewayRefusals } from './gateway-refusals.ts';
import { groupsStory } from './groups-story.ts';
import { hooksStory, OTHER_STORAGE } from './hooks-story.ts';
import { linesOf, sentTo, storedPacks, verifyDomain } from './inspect.ts';
import { issuesStory } from './issues-story.ts';
import { lfsStory } from './lfs-story.ts';
import { mergeRequestsStory } from './merge-requests-story.ts';
import { pagesStory } from './pages-story.ts';
import { run } from './process.ts';
import { provisioningStory } from './provisioning-story.ts';
import { runnerStory } from './runner-story.ts';
import { type Deployed, story } from './story.ts';
import { Tally } from './tally.ts';
import { telemetryStory } from './telemetry-story.ts';
import { templateLint } from './template-lint.ts';

/** Deploys onto an emulated AWS with the tools that deploy onto the real one, and uses what stands there. */
const root = join(import.meta.dirname, '../..');
const LIMIT_MS = 10 * 60_000;

/** Pinned through a tag, so that the functions can be told their public URL when they are deployed. */
const API_ID = 'lemnos01';

const tally = new Tally();
const stop = (code: number) => {
  // The emulator and its workers end in its `exit` listener.
  console.log(`${tally.passed} passed, ${tally.failed + 1} failed`);
  process.exit(code);
};
process.once('SIGINT', () => stop(130));
process.once('SIGTERM', () => stop(143));
setTimeout(() => {
  console.log(`FAIL  the suite took longer than ${LIMIT_MS / 60_000} minutes`);
  stop(1);
}, LIMIT_MS).unref();

try {
  await using emulator = await startEmulator();
  const outputs = await deploy(emulator);
  if (outputs !== undefined) {
    const deployed: Deployed = {
      tally,
      url: outputs['Url']!,
      invokeFirstAdministrator: () => invoke(emulator, outputs['FirstAdministratorCommand']!),
      workerRuns: () => emulator.log().match(/ESM: Lambda \S+ processed [1-9]\d* SQS messages/g)?.length ?? 0,
      packs: () => storedPacks(emulator),
      mailTo: (address) => sentTo(emulator, address),
      linesOf: (requestId) => linesOf(emulator, requestId),
    };
    await verifyDomain(emulator, 'example.com');
    const told = await story(deployed);
    await groupsStory(deployed, told);
    await issuesStory(deployed, told);
    await mergeRequestsStory(deployed, told);
    await lfsStory(deployed, told);
    await pagesStory(deployed, told);
    await runnerStory(deployed, told);
    await provisioningStory(deployed, told);
    await hooksStory(deployed, told);
    await telemetryStory(deployed, told);
  }
  await gatewayRefusals(tally, emulator);
  for (const service of ['dynamodb', 's3'] as const) {
    await conformance(tally, service, { name: 'the emulator', ...emulator });
  }
  if (tally.failed > 0) {
    const log = join(root, '.cache/emulator.log');
    writeFileSync(log, emulator.log());
    console.log(`the emulator's log is ${log}`);
  }
} catch (error) {
  tally.failed += 1;
  console.log(`FAIL  ${error instanceof Error ? error.message : error}`);
}
await templateLint(tally);
await dynamodbLocal(tally);
console.log(`${tally.passed} passed, ${tally.failed} failed`);
process.exit(tally.failed === 0 ? 0 : 1);

/** @returns the service stack's outputs by name, nothing when it could not be deployed. */
async function deploy(emulator: Emulator): Promise<Record<string, string> | undefined> {
  const cdk = (cwd: string, ...args: string[]) =>
    run('cdk', [...args, '--no-notices', '--ci'], { cwd, env: emulator.environment, timeout: LIMIT_MS });
  const context = [
    // The emulator serves buffered integrations only.
    ...['-c', 'stream=false'],
    ...['-c', `tags=ms-custom-id=${API_ID}`],
    ...['-c', `repositoryStorages=${OTHER_STORAGE}`],
    ...['-c', 'mailFrom=Lemnos <forge@example.com>'],
    ...['-c', `baseUrl=${emulator.endpoint}/_aws/execute-api/${API_ID}/prod`],
    ...(process.env['ENTRIES'] === undefined ? [] : ['-c', `entries=${process.env['ENTRIES']}`]),
  ];
  const file = join(emulator.folder, 'outputs.json');
  let outputs: Record<string, string> | undefined;
  await tally.step('cdk bootstrap', async () => {
    // Where there is no cdk.json it asks no app.
    await cdk(emulator.folder, 'bootstrap', 'aws://000000000000/us-east-1');
  });
  await tally.step('cdk deploy', async () => {
    await cdk(root, 'deploy', '--all', '--require-approval', 'never', '--outputs-file', file, ...context);
    outputs = JSON.parse(readFileSync(file, 'utf8'))['LemnosService'];
  });
  return outputs;
}

/** Does what the printed command does: its function, its payload. */
async function invoke(emulator: Emulator, command: string): Promise<Record<string, unknown>> {
  const [, name, payload] =
    /^aws lambda invoke --function-name (\S+) .*--payload '([^']*)'/.exec(command) ?? [];
  if (name === undefined || payload === undefined) throw new Error(`not a command to run: ${command}`);
  const script = join(import.meta.dirname, 'invoke.py');
  const { stdout } = await run(emulator.python, [script, name, payload], { env: emulator.environment });
  return JSON.parse(stdout);
}
