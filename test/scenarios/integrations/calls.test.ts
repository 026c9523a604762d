/**
 * What services are sent, by a real call to a receiver that records it. The receiver stands for all servers: of the URL of a
 * request, the server is replaced and told beside.
 */
import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CALLS } from '../../../lib/domain/integrations/calls/all.ts';
import type { EventBody, Settings, Values } from '../../../lib/domain/integrations/calls/call.ts';
import { INTEGRATIONS, type IntegrationSlug } from '../../../lib/domain/integrations/catalog.ts';
import { callHook } from '../../../lib/outbound/hook-call.ts';
import {
  AFTER,
  BEFORE,
  issue,
  mergeRequest,
  note,
  pipeline,
  push,
  tagPush,
  WEB,
  wikiPage,
  ZERO,
} from './events.ts';
import { startLineReceiver, startReceiver } from './receiver.ts';

let receiver: Awaited<ReturnType<typeof startReceiver>>;
beforeAll(async () => {
  receiver = await startReceiver({
    '/rooms.json': {
      rooms: [
        { id: 1, name: 'Other' },
        { id: 9, name: 'Build' },
      ],
    },
    '/rest/api/2/issue/PROJ-2?fields=resolution&expand=transitions': {
      fields: { resolution: null },
      transitions: [
        { id: '11', to: { statusCategory: { key: 'new' } } },
        { id: '31', to: { statusCategory: { key: 'done' } } },
      ],
    },
    '/rest/api/2/issue/PROJ-3?fields=resolution&expand=transitions': {
      fields: { resolution: { name: 'Done' } },
    },
  });
});
afterAll(() => receiver.stop());

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of many shapes.
  readonly body: any;
}

/** Everything that an event leads to, in order. */
async function sentFor(
  slug: IntegrationSlug,
  body: EventBody,
  values: Values = {},
  secrets: Readonly<Record<string, string>> = {},
): Promise<Sent[]> {
  const calls = CALLS[slug]!;
  const trigger = body['object_kind'] === 'issue' ? 'issues_events' : `${body['object_kind']}_events`;
  const event = 'Push Hook';
  const common = { values, serviceName: 'Lemnos', baseUrl: 'https://git.example.com' };
  const settings: Settings = { ...common, secrets, event };
  const waiting = [...calls.prepare({ ...common, trigger, event, body })];
  const sent: Sent[] = [];
  for (let content = waiting.shift(); content !== undefined; content = waiting.shift()) {
    // It waits as JSON.
    const read = JSON.parse(JSON.stringify(content));
    const {
      method,
      url,
      headers = {},
      body: text = '',
      anyCertificate = false,
      answerBytes,
    } = calls.request(read, settings);
    const { origin, pathname, search } = new URL(url);
    const before = receiver.calls.length;
    const outcome = await callHook({
      ...(method === undefined ? {} : { method }),
      ...(answerBytes === undefined ? {} : { answerBytes }),
      url: `${receiver.url}${pathname}${search}`,
      headers,
      payload: deflateSync(text).toString('base64'),
      anyCertificate,
      allow: '127.0.0.0/8',
    });
    expect([outcome.status, receiver.calls.length]).toEqual([200, before + 1]);
    const call = receiver.calls.at(-1)!;
    const isJson = call.headers['content-type']?.startsWith('application/json') === true;
    sent.push({
      method: call.method,
      url: `${origin}${call.path}`,
      headers: call.headers,
      body: isJson ? JSON.parse(call.text) : call.text,
    });
    waiting.unshift(...(calls.next?.(read, outcome.body, { values }) ?? []));
  }
  return sent;
}

const only = async (...given: Parameters<typeof sentFor>) => {
  const sent = await sentFor(...given);
  expect(sent).toHaveLength(1);
  return sent[0]!;
};

const HOOK = { webhook: 'https://chat.example.com/hook/1' };
const basicOf = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

describe('a chat that reads angles', () => {
  test.each(['slack', 'mattermost'] as const)('%s gets a push as text with attachments', async (slug) => {
    const { method, url, headers, body } = await only(slug, push(), { ...HOOK, username: 'forge' });
    expect([method, url, headers['content-type']]).toEqual(['POST', HOOK.webhook, 'application/json']);
    const compare = `<${WEB}/-/compare/${BEFORE}...${AFTER}|Compare changes>`;
    const text = `Ann Bell (ann) pushed to branch <${WEB}/-/commits/main|main> of <${WEB}|Team / Code> (${compare})`;
    expect(body).toEqual({
      username: 'forge',
      text,
      attachments: [
        {
          fallback: text,
          text: `<${WEB}/-/commit/${AFTER}|bbbbbbbb>: Add a file - Ann Bell`,
          color: '#345',
          mrkdwn_in: ['text'],
        },
      ],
    });
  });

  test('slack is told in each channel of the kind of event, else in that of all', async () => {
    const values = { ...HOOK, channel: '#all', issue_channel: '#one, #two' };
    const channels = async (body: EventBody) =>
      (await sentFor('slack', body, values)).map((sent) => sent.body.channel);
    expect(await channels(issue())).toEqual(['#one', '#two']);
    expect(await channels(note)).toEqual(['#all']);
  });

  test('what people wrote is no markup', async () => {
    const { body } = await only('slack', issue(), HOOK);
    expect(body.text).toBe(
      `[<${WEB}|Team / Code>] Issue <${WEB}/-/issues/3|#3 It &lt;breaks&gt; &amp; stops> opened by Ann Bell (ann)`,
    );
    expect(body.attachments[0]).toMatchObject({
      title: '#3 It &lt;breaks&gt; &amp; stops',
      title_link: `${WEB}/-/issues/3`,
      text: 'When [I](https://example.com) start it',
      color: '#C95823',
    });
  });

  test.each([
    ['a new branch', push('x', { before: ZERO }), /pushed new branch .* to <https/],
    ['a deleted branch', push('x', { after: ZERO, commits: [] }), /removed branch main from </],
    ['a tag', tagPush, /pushed new tag <.*-\/tags\/v1\|v1>/],
    ['a merge request', mergeRequest(), /opened merge request <.*!4 Repair PROJ-12> in </],
    ['a note', note, /commented on issue #3> in .*: \*It breaks\*/],
    ['a page of a wiki', wikiPage, /created <.*wiki page> in .*: \*Home\*/],
    ['a pipeline', pipeline(), /Pipeline <.*31\|#31> of branch .* has failed in 02:05/],
  ])('%s has its sentence', async (_what, body, text) => {
    expect((await only('slack', body, HOOK)).body.text).toMatch(text);
  });

  test.each([
    ['an issue', issue('update')],
    ['a merge request', mergeRequest('update')],
  ])('%s that was changed is no news', async (_what, body) => {
    expect(await sentFor('slack', body, HOOK)).toEqual([]);
  });

  test('a pipeline names the jobs that failed', async () => {
    const { body } = await only('slack', pipeline(), HOOK);
    expect(body.attachments[0]).toMatchObject({
      title: 'Pipeline #31 has failed in 02:05',
      title_link: `${WEB}/-/pipelines/31`,
      text: `Commit: <${WEB}/-/commit/${AFTER}|Add a file>\nFailed jobs: <${WEB}/-/jobs/41|test>`,
      color: 'danger',
    });
  });

  test('hangouts-chat gets one text', async () => {
    const { headers, body } = await only('hangouts-chat', issue(), HOOK);
    expect(headers['content-type']).toBe('application/json; charset=UTF-8');
    expect(body).toEqual({
      text: [
        `[<${WEB}|Team / Code>] Issue <${WEB}/-/issues/3|#3 It &lt;breaks&gt; &amp; stops> opened by Ann Bell (ann)`,
        `<${WEB}/-/issues/3|#3 It &lt;breaks&gt; &amp; stops>`,
        'When [I](https://example.com) start it',
      ].join('\n'),
    });
  });
});

describe('a chat that reads Markdown', () => {
  const text = `Ann Bell (ann) opened merge request [!4 Repair PROJ-12](${WEB}/-/merge_requests/4) in [Team / Code](${WEB})`;

  test('discord gets an embed', async () => {
    const { body } = await only('discord', mergeRequest(), HOOK);
    expect(body).toEqual({
      embeds: [
        { author: { name: 'Ann Bell', icon_url: 'https://git.example.com/ann.png' }, description: text },
      ],
    });
  });

  test.each([
    ['approved', 'Ann Bell (ann) approved merge request'],
    ['approval', 'Ann Bell (ann) added their approval to merge request'],
    ['unapproval', 'Ann Bell (ann) removed their approval from merge request'],
  ])('is told who approves: %s', async (action, words) => {
    const { body } = await only('webex-teams', mergeRequest(action), HOOK);
    expect(body).toEqual({ markdown: text.replace('Ann Bell (ann) opened merge request', words) });
  });

  test('microsoft-teams gets a card', async () => {
    const { body } = await only('microsoft-teams', push(), HOOK);
    expect(body).toEqual({
      '@type': 'MessageCard',
      '@context': 'https://schema.org/extensions',
      title: 'Team / Code',
      summary: expect.stringContaining('pushed to branch'),
      sections: [
        {
          activityTitle: `Ann Bell (ann) pushed to branch [main](${WEB}/-/commits/main)`,
          activitySubtitle: `in [Team / Code](${WEB})`,
          activityText: `[Compare changes](${WEB}/-/compare/${BEFORE}...${AFTER})`,
          activityImage: 'https://git.example.com/ann.png',
        },
        { text: `[bbbbbbbb](${WEB}/-/commit/${AFTER}): Add a file - Ann Bell` },
      ],
    });
  });

  test('unify-circuit and webex-teams get the sentence', async () => {
    expect((await only('unify-circuit', mergeRequest(), HOOK)).body).toEqual({
      subject: 'Team / Code',
      text,
      markdown: true,
    });
    expect((await only('webex-teams', mergeRequest(), HOOK)).body).toEqual({ markdown: text });
  });
});

test('campfire is asked for the room, and told in it', async () => {
  const [find, say] = await sentFor(
    'campfire',
    push(),
    { subdomain: 'team', room: 'Build' },
    { token: 'secret' },
  );
  expect([find!.method, find!.url, find!.headers.authorization]).toEqual([
    'GET',
    'https://team.campfirenow.com/rooms.json',
    basicOf('secret:X'),
  ]);
  expect([say!.method, say!.url, say!.headers.authorization]).toEqual([
    'POST',
    'https://team.campfirenow.com/room/9/speak.json',
    basicOf('secret:X'),
  ]);
  expect(say!.body).toEqual({
    message: {
      type: 'TextMessage',
      body: `[team/code] Ann Bell pushed 1 commits to main. ${WEB}/-/compare/${BEFORE}...${AFTER}`,
    },
  });
});

test('flowdock gets an activity for each commit', async () => {
  const { url, body } = await only('flowdock', push(), {}, { token: 'secret' });
  expect(url).toBe('https://api.flowdock.com/messages');
  expect(body).toEqual({
    flow_token: 'secret',
    event: 'activity',
    author: { name: 'Ann Bell', email: 'ann@example.com' },
    title: `<a href="${WEB}/-/commit/${AFTER}">bbbbbbb</a> Add a file`,
    external_thread_id: 'refs/heads/main',
    thread: { title: 'team/code branch main', external_url: WEB },
    body: '<pre>More of it</pre>',
  });
});

test('pushover gets a form', async () => {
  const values = { priority: '1', device: 'phone', sound: 'bike' };
  const { url, headers, body } = await only('pushover', push(), values, { api_key: 'app', user_key: 'me' });
  expect([url, headers['content-type']]).toEqual([
    'https://api.pushover.net/1/messages.json',
    'application/x-www-form-urlencoded',
  ]);
  expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
    token: 'app',
    user: 'me',
    device: 'phone',
    priority: '1',
    sound: 'bike',
    title: 'team/code',
    message: 'Ann Bell pushed to branch "main".\nTotal commits count: 1',
    url: WEB,
    url_title: 'See project team/code',
  });
});

test('irker gets a line of JSON for each message, over TCP', async () => {
  const lines = await startLineReceiver();
  const calls = CALLS.irker!;
  const values = {
    recipients: '#build ircs://irc.example.net/ops',
    default_irc_uri: 'irc://irc.example.org/',
    server_host: '127.0.0.1',
    server_port: lines.port,
  };
  const common = { values, serviceName: 'Lemnos', baseUrl: '', event: 'Push Hook' };
  const [content] = calls.prepare({ ...common, trigger: 'push_events', body: push() });
  const { method, url, body = '' } = calls.request(content!, { ...common, secrets: {} });
  const order = { url, headers: {}, payload: deflateSync(body).toString('base64'), anyCertificate: false };
  const refused = await callHook({ ...order, method: method!, allow: '' });
  expect([refused.status, refused.failure]).toEqual([null, 'blocked']);
  expect((await callHook({ ...order, method: method!, allow: '127.0.0.0/8' })).status).toBe(200);
  await expect.poll(() => lines.received).toHaveLength(1);
  expect(
    lines.received[0]!.trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([
    {
      to: ['irc://irc.example.org/build', 'ircs://irc.example.net/ops'],
      privmsg: `[Code] Ann Bell pushed 1 new commit to main: ${WEB}/-/compare/aaaaaaaa...bbbbbbbb`,
    },
    {
      to: ['irc://irc.example.org/build', 'ircs://irc.example.net/ops'],
      privmsg: 'Code/main bbbbbbbb Ann Bell (2 files): Add a file',
    },
  ]);
  lines.stop();
});

describe('trackers of tasks', () => {
  test('asana gets a comment for each task that a commit names, and some tasks end', async () => {
    const message = 'Fixes #123 and see https://app.asana.com/0/55/456';
    const sent = await sentFor('asana', push(message), {}, { api_key: 'secret' });
    const root = 'https://app.asana.com/api/1.0/tasks';
    expect(sent.map(({ method, url }) => `${method} ${url}`)).toEqual([
      `POST ${root}/123/stories`,
      `PUT ${root}/123`,
      `POST ${root}/456/stories`,
    ]);
    expect(sent[0]!.headers.authorization).toBe('Bearer secret');
    expect(sent[0]!.body).toEqual({
      data: {
        text: `Ann Bell pushed to branch main of team/code ( ${WEB}/-/commit/${AFTER} ): ${message}`,
      },
    });
    expect(sent[1]!.body).toEqual({ data: { completed: true } });
    const elsewhere = { restrict_to_branch: 'release, topic' };
    expect(await sentFor('asana', push(message), elsewhere)).toEqual([]);
  });

  test('pivotaltracker gets each commit', async () => {
    const { url, headers, body } = await only('pivotaltracker', push('[#1] Do'), {}, { token: 'secret' });
    expect([url, headers['x-trackertoken']]).toEqual([
      'https://www.pivotaltracker.com/services/v5/source_commits',
      'secret',
    ]);
    expect(body).toEqual({
      source_commit: {
        commit_id: AFTER,
        author: 'Ann Bell',
        url: `${WEB}/-/commit/${AFTER}`,
        message: '[#1] Do',
      },
    });
  });

  test('assembla gets the payload', async () => {
    const { url, body } = await only('assembla', push(), { subdomain: 'team' }, { token: 'se cret' });
    expect(url).toBe('https://atlas.assembla.com/spaces/team/github_tool?secret_key=se%20cret');
    expect(body).toEqual({ payload: push() });
  });
});

describe('jira', () => {
  const values = { url: 'https://jira.example.com/', username: 'ann' };
  const secrets = { password: 'secret' };
  const at = 'https://jira.example.com/rest/api/2/issue';

  test('gets a comment and a link for each issue that a commit names', async () => {
    const [comment, link] = await sentFor('jira', push('PROJ-1: begin, not PROJ-x or A-1x'), values, secrets);
    expect([comment!.method, comment!.url, comment!.headers.authorization]).toEqual([
      'POST',
      `${at}/PROJ-1/comment`,
      basicOf('ann:secret'),
    ]);
    const user = '[Ann Bell|https://git.example.com/ann]';
    expect(comment!.body.body).toBe(
      `${user} mentioned this issue in [a commit|${WEB}/-/commit/${AFTER}] of [team/code|${WEB}] on branch [main|${WEB}/-/tree/main]:{quote}PROJ-1: begin, not PROJ-x or A-1x{quote}`,
    );
    expect(link!.url).toBe(`${at}/PROJ-1/remotelink`);
    expect(link!.body).toEqual({
      globalId: `${WEB}/-/commit/${AFTER}`,
      relationship: 'mentioned on',
      object: {
        url: `${WEB}/-/commit/${AFTER}`,
        title: 'Commit - PROJ-1: begin, not PROJ-x or A-1x',
        status: { resolved: false },
      },
    });
  });

  test('issues that commits of the default branch close move to what is done, unless they are', async () => {
    const automatic = { ...values, jira_issue_transition_automatic: true, comment_on_event_enabled: false };
    const sent = await sentFor('jira', push('Closes PROJ-2, PROJ-3'), automatic, secrets);
    expect(sent.map(({ method, url }) => `${method} ${url.slice(at.length)}`)).toEqual([
      'POST /PROJ-2/remotelink',
      'POST /PROJ-3/remotelink',
      'GET /PROJ-2?fields=resolution&expand=transitions',
      'POST /PROJ-2/transitions',
      'POST /PROJ-2/remotelink',
      'GET /PROJ-3?fields=resolution&expand=transitions',
    ]);
    expect(sent[3]!.body).toEqual({ transition: { id: '31' } });
    expect(sent[4]!.body.object).toMatchObject({ title: `Solved by ${AFTER}.`, status: { resolved: true } });
    const topic = push('Closes PROJ-2', { ref: 'refs/heads/topic' });
    expect((await sentFor('jira', topic, automatic, secrets)).map(({ method }) => method)).toEqual(['POST']);
  });

  test('moves through the transitions that are given', async () => {
    const given = { ...values, jira_issue_transition_id: '5;7', comment_on_event_enabled: true };
    const sent = await sentFor('jira', push('Closes PROJ-2'), given, secrets);
    const ids = sent.filter(({ url }) => url.endsWith('/transitions')).map(({ body }) => body.transition.id);
    expect(ids).toEqual(['5', '7']);
    expect(sent.at(-2)!.body.body).toBe(`Issue solved with [${AFTER}|${WEB}/-/commit/${AFTER}].`);
  });

  test('hears of merge requests that are opened', async () => {
    const sent = await sentFor('jira', mergeRequest(), values, secrets);
    expect(sent.map(({ url }) => url.slice(at.length))).toEqual([
      '/PROJ-12/comment',
      '/PROJ-12/remotelink',
      '/PROJ-13/comment',
      '/PROJ-13/remotelink',
    ]);
    expect(sent[0]!.body.body).toContain(`[a merge request|${WEB}/-/merge_requests/4]`);
  });
});

describe('servers that build', () => {
  const hooks = [
    ['buildkite', {}, { token: 'web:status' }, 'https://webhook.buildkite.com/deliver/web'],
    [
      'drone-ci',
      { drone_url: 'https://drone.example.com/' },
      { token: 'secret' },
      'https://drone.example.com/hook?owner=team&name=code&access_token=secret',
    ],
    [
      'jenkins',
      { jenkins_url: 'https://jenkins.example.com/ci', project_name: 'folder/my job', username: 'ann' },
      { password: 'secret' },
      'https://jenkins.example.com/ci/project/folder/my%20job',
    ],
    [
      'packagist',
      { username: 'ann', server: '' },
      { token: 'secret' },
      'https://packagist.org/api/update-package?username=ann&apiToken=secret',
    ],
  ] as const;
  test.each(hooks)('%s gets the payload of a push', async (slug, values, secrets, url) => {
    const sent = await only(slug, push(), values, secrets);
    expect([sent.method, sent.url, sent.headers['x-gitlab-event']]).toEqual(['POST', url, 'Push Hook']);
    expect(sent.body).toEqual(push());
  });

  test.each(['buildkite', 'drone-ci', 'jenkins', 'bamboo', 'teamcity'] as const)(
    '%s is not told where nothing is to be built',
    async (slug) => {
      const nothing = [
        push('x', { after: ZERO, commits: [] }),
        push('x', { commits: [], total_commits_count: 0 }),
        mergeRequest('close', { state: 'closed' }),
        mergeRequest('update'),
      ];
      for (const body of nothing) expect(await sentFor(slug, body)).toEqual([]);
    },
  );

  test('jenkins is shown who calls', async () => {
    const [, values, secrets] = hooks[2];
    const { headers } = await only('jenkins', push(), values, secrets);
    expect(headers.authorization).toBe(basicOf('ann:secret'));
  });

  test('bamboo is asked to build', async () => {
    const values = { bamboo_url: 'https://bamboo.example.com', build_key: 'P-1', username: 'ann' };
    const { method, url, headers } = await only('bamboo', push(), values, { password: 'secret' });
    expect([method, url, headers.authorization]).toEqual([
      'GET',
      'https://bamboo.example.com/updateAndBuild.action?buildKey=P-1&os_authType=basic',
      basicOf('ann:secret'),
    ]);
  });

  test('teamcity gets a build of the branch', async () => {
    const values = { teamcity_url: 'https://tc.example.com/', build_type: 'A "B"', username: 'ann' };
    const { url, headers, body } = await only('teamcity', mergeRequest(), values, { password: 'secret' });
    expect([url, headers['content-type'], headers.authorization, body]).toEqual([
      'https://tc.example.com/httpAuth/app/rest/buildQueue',
      'application/xml',
      basicOf('ann:secret'),
      '<build branchName="topic"><buildType id="A &quot;B&quot;"/></build>',
    ]);
  });

  test('datadog gets the payload of a pipeline', async () => {
    const values = {
      datadog_site: 'datadoghq.eu',
      datadog_service: 'forge',
      datadog_env: 'live',
      datadog_tags: 'a:1\nb:2',
    };
    const { url, body } = await only('datadog', pipeline(), values, { api_key: 'secret' });
    expect(url).toBe(
      'https://webhooks-http-intake.logs.datadoghq.eu/api/v2/webhook?dd-api-key=secret&service=forge&env=live&tags=a%3A1%2Cb%3A2',
    );
    expect(body).toEqual(pipeline());
    const own = { api_url: 'https://logs.example.com/in' };
    const there = await only('datadog', pipeline(), own, { api_key: 'secret' });
    expect(there.url).toBe('https://logs.example.com/in?dd-api-key=secret');
  });

  test('github gets the status of a commit', async () => {
    const values = { repository_url: 'https://github.com/team/code.git' };
    const { url, headers, body } = await only('github', pipeline(), values, { token: 'secret' });
    expect([url, headers.authorization]).toEqual([
      `https://api.github.com/repos/team/code/statuses/${AFTER}`,
      'token secret',
    ]);
    expect(body).toEqual({
      state: 'failure',
      description: 'Pipeline failed on Lemnos',
      target_url: `${WEB}/-/pipelines/31`,
      context: 'ci/lemnos/git.example.com',
    });
    const own = { repository_url: 'https://git.example.org/a/b/', static_context: false };
    const there = await only('github', pipeline('success'), own, { token: 'x' });
    expect(there.url).toBe(`https://git.example.org/api/v3/repos/a/b/statuses/${AFTER}`);
    expect(there.body).toMatchObject({ state: 'success', context: 'ci/lemnos/main' });
  });
});

test('every kind that hears of events calls somebody, or sends mail', () => {
  const silent = Object.entries(INTEGRATIONS).filter(
    ([slug, { hears }]) => hears.length > 0 && CALLS[slug as IntegrationSlug] === undefined,
  );
  expect(silent.map(([slug]) => slug)).toEqual(['emails-on-push', 'pipelines-email']);
});
