import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { describe, expect, test } from 'vitest';
import { instance } from '../../../cdk/app.ts';
import cdkJson from '../../../cdk.json' with { type: 'json' };
import { apiDocsPage, homePage } from '../../../lib/api/meta/pages.ts';
import { readEnvironment, type StoreEnvironment } from '../../../lib/store/environment.ts';

const FRONT = 'https://git.example.com';

/** The environment of the function that serves the pages, as it is deployed with these settings. */
function deployed(settings: Record<string, string>): StoreEnvironment {
  const app = new App({ context: { ...cdkJson.context, ...settings }, analyticsReporting: false });
  const { service } = instance(app, () => Code.fromInline('exports.handler = async () => {};'));
  const functions = Template.fromStack(service).findResources('AWS::Lambda::Function', {
    Properties: { Description: 'Lemnos api meta' },
  });
  return readEnvironment(Object.values(functions)[0]!['Properties'].Environment.Variables);
}

/** What the pages say, given an environment: text of `/`, HTML of `/api/docs`. */
async function pagesIn(environment: StoreEnvironment): Promise<{ home: string; docs: string }> {
  const settings = { current: async () => ({ home_page_url: null, custom_http_clone_url_root: null }) };
  const deps = async () => ({ environment, settings }) as never;
  const facts = { baseUrl: 'https://lemnos.example/prod' } as never;
  const [home, docs] = await Promise.all([
    homePage(facts, {} as Request, deps),
    apiDocsPage(facts, {} as Request, deps),
  ]);
  return { home: String(home.body), docs: String(docs.body) };
}

describe('what the pages say of large pushes', () => {
  test.each([
    ['on the embedded host', readEnvironment({ STREAM_PUSHES: '1' })],
    ['on the embedded host with a front', readEnvironment({ STREAM_PUSHES: '1', GIT_FRONT_URL: FRONT })],
    ['deployed with the front', deployed({ gitFrontUrl: FRONT })],
  ])('%s: git alone does', async (_, environment) => {
    const { home, docs } = await pagesIn(environment);
    expect(home).toContain('Pushes of any size work with git alone.');
    expect(docs).toContain('A `git push` of any size works with git alone.');
    for (const page of [home, docs]) {
      expect(page).not.toMatch(/git-remote-lemnos|lemnos::|413/);
      expect(page.includes(FRONT)).toBe(environment.gitFrontUrl !== undefined);
    }
  });

  test.each([
    ['on the embedded host with GATEWAY_LIMITS=1', readEnvironment({ STREAM_PUSHES: '0' })],
    ['deployed without the front', deployed({})],
  ])('%s: they need the helper', async (_, environment) => {
    const { home, docs } = await pagesIn(environment);
    expect(home).toContain('git push lemnos::https://lemnos.example/prod/<namespace>/<project>.git');
    expect(docs).toContain('lemnos::https://lemnos.example/prod/&#60;namespace&#62;/&#60;project&#62;.git');
    for (const page of [home, docs]) {
      expect(page).toContain('https://lemnos.example/prod/git-remote-lemnos');
      expect(page).toContain('4.5 MB');
      expect(page).not.toContain('any size');
    }
  });
});
