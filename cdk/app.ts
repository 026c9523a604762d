import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { App, Tags, Validations } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { AwsSolutionsChecks } from 'cdk-nag';
import { type Area, areas } from '../functions/areas.ts';
import { bundle } from './bundle.ts';
import { DataStack } from './data-stack.ts';
import { FrontStack } from './front-stack.ts';
import { acknowledgeFindings } from './nag-suppressions.ts';
import { ServiceStack } from './service-stack.ts';
import { readSettings } from './settings.ts';

/** One instance: a stack for its data, which outlives its code, and one for its code. */
export function instance(
  app: App,
  code: (area: Area) => Code,
): { data: DataStack; service: ServiceStack; front: FrontStack | undefined } {
  const settings = readSettings(app.node);
  const data = new DataStack(app, `${settings.instance}Data`, settings);
  const service = new ServiceStack(app, `${settings.instance}Service`, { data, settings, code });
  const { gitFrontUrl: url, gitFrontCertificate: certificate } = settings;
  const front =
    url === undefined || certificate === undefined
      ? undefined
      : new FrontStack(app, `${settings.instance}Front`, {
          resources: service.resources,
          settings,
          url,
          certificate,
        });
  for (const [name, value] of Object.entries(settings.tags)) Tags.of(app).add(name, value);
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  acknowledgeFindings(data, service, front);
  return { data, service, front };
}

if (import.meta.main) {
  const app = new App();
  const root = join(import.meta.dirname, '..');
  const entries = join(root, app.node.tryGetContext('entries') ?? 'functions');
  const output = join(root, 'dist');
  // `.ci/run` sets it: `npm run build` has just made the bundles.
  if (process.env['BUILT'] !== '1') await bundle(areas, { entries, output });
  instance(app, (area) => {
    const directory = join(output, area.name);
    if (!existsSync(directory)) throw new Error(`${join(entries, area.entry)} is missing`);
    return Code.fromAsset(directory, { exclude: ['*.map'] });
  });
  app.synth();
}
