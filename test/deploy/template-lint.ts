import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { instance } from '../../cdk/app.ts';
import cdkJson from '../../cdk.json' with { type: 'json' };
import { attempt } from './process.ts';
import { pythonWith } from './python.ts';
import type { Tally } from './tally.ts';

/** Settings that deploy every optional part. */
const EVERYTHING = {
  mailFrom: 'Lemnos <forge@example.com>',
  shiftMinutes: '10',
  wafRateLimit: '2000',
  alarmEmail: 'operator@example.com',
  domain: 'git.example.com',
  domainCertificate: 'arn:aws:acm:us-east-1:111122223333:certificate/2',
  gitFrontUrl: 'https://push.example.com',
  gitFrontCertificate: 'arn:aws:acm:us-east-1:111122223333:certificate/1',
};

/** Has cfn-lint read the templates of every part. */
export async function templateLint(tally: Tally): Promise<void> {
  let python: string;
  try {
    python = await pythonWith(join(import.meta.dirname, 'cfn-lint.txt'), 'cfn-lint');
  } catch (error) {
    console.log(`skip  cfn-lint: it cannot be installed (${String(error).split('\n')[0]})`);
    return;
  }
  await tally.step('cfn-lint finds nothing in the templates', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lemnos-templates-'));
    try {
      const app = new App({ context: { ...cdkJson.context, ...EVERYTHING }, analyticsReporting: false });
      const stacks = instance(app, () => Code.fromInline('exports.handler = async () => {};'));
      for (const [name, stack] of Object.entries(stacks)) {
        if (stack === undefined) throw new Error(`${name} is not deployed`);
        writeFileSync(join(folder, `${name}.json`), JSON.stringify(Template.fromStack(stack), null, 1));
      }
      const { code, stdout, stderr } = await attempt(
        join(dirname(python), 'cfn-lint'),
        // W3005: CDK names dependencies that references imply already.
        [
          '--ignore-checks',
          'W3005',
          '--format',
          'parseable',
          '--regions',
          'us-east-1',
          '--',
          `${folder}/*.json`,
        ],
        { timeout: 120_000 },
      );
      if (code !== 0) throw new Error(`${stdout}${stderr}`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}
