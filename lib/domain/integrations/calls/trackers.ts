/** Trackers of tasks and issues: they get comments about commits that name their items, and close some of them. */
import {
  basic,
  type CallsOf,
  type Content,
  commitsOf,
  type EventBody,
  isListed,
  json,
  parsed,
  refName,
  textOf,
  under,
} from './call.ts';

/** Calls that one event leads to. */
const MAX_CALLS = 50;

/** A task as `#1234` or by its URL, and a word before it that ends it. */
const ASANA_TASK = /(fix\w*|clos[ei]\w*)?\W{0,20}(?:https:\/\/app\.asana\.com\/\d+\/\w+\/(\w+)|#(\w+))/gi;

const asana: CallsOf = {
  prepare({ body, values }) {
    if (!isListed(textOf(values['restrict_to_branch']), body['ref'])) return [];
    const calls: Content[] = [];
    for (const { message, url } of commitsOf(body)) {
      const text = String(message).slice(0, 10_000);
      const about = `${body['user_name']} pushed to branch ${refName(body['ref'])} of ${body['project']?.path_with_namespace} ( ${url} ):`;
      for (const [, word, byUrl, byNumber] of text.matchAll(ASANA_TASK)) {
        const task = byNumber ?? byUrl;
        calls.push({ task, text: `${about} ${text}` });
        if (word !== undefined) calls.push({ task, completed: true });
      }
    }
    return calls.slice(0, MAX_CALLS);
  },
  request({ task, text, completed }, { secrets }) {
    const at = `https://app.asana.com/api/1.0/tasks/${encodeURIComponent(String(task))}`;
    const headers = { Authorization: `Bearer ${secrets['api_key']}` };
    if (completed === true) return { ...json(at, { data: { completed: true } }, headers), method: 'PUT' };
    return json(`${at}/stories`, { data: { text } }, headers);
  },
};

const assembla: CallsOf = {
  prepare: ({ body }) => [body],
  request(payload, { values, secrets }) {
    const space = encodeURIComponent(textOf(values['subdomain']));
    const key = encodeURIComponent(secrets['token'] ?? '');
    return json(`https://atlas.assembla.com/spaces/${space}/github_tool?secret_key=${key}`, { payload });
  },
};

const pivotaltracker: CallsOf = {
  prepare: ({ body, values }) =>
    !isListed(textOf(values['restrict_to_branch']), body['ref'])
      ? []
      : commitsOf(body).map(({ id, author, url, message }) => ({
          source_commit: { commit_id: id, author: author?.name, url, message },
        })),
  request: (content, { secrets }) =>
    json('https://www.pivotaltracker.com/services/v5/source_commits', content, {
      'X-TrackerToken': secrets['token'] ?? '',
    }),
};

/** The key of an issue: that of its project, and a number. */
const JIRA_KEY = /(?<![A-Za-z0-9_-])[A-Z][A-Z_0-9]{1,49}-\d{1,18}(?![\w-])/g;
const JIRA_CLOSES =
  /(?<!\w)(?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?):? {1,5}(?:issues? {1,5})?((?:[A-Z][A-Z_0-9]{1,49}-\d{1,18}(?:,? {0,3}(?:and )?)?){1,20})/gi;

const keysIn = (text: string): string[] => [...new Set(text.match(JIRA_KEY) ?? [])];
const closedIn = (text: string): string[] => [
  ...new Set([...text.matchAll(JIRA_CLOSES)].flatMap(([, list]) => keysIn(list!))),
];

interface Mentioned {
  readonly kind: 'commit' | 'merge request';
  readonly text: string;
  readonly title: string;
  readonly url: string;
  readonly branch: string;
}

function mentionsOf(body: EventBody): Mentioned[] {
  if (body['object_kind'] === 'push')
    return commitsOf(body).map(({ message, title, url }) => ({
      kind: 'commit',
      text: String(message).slice(0, 10_000),
      title: String(title),
      url: String(url),
      branch: refName(body['ref']),
    }));
  const { title, description, url, source_branch } = body['object_attributes'] ?? {};
  const text = `${title}\n${description ?? ''}`.slice(0, 10_000);
  return [{ kind: 'merge request', text, title, url, branch: source_branch }];
}

const jiraLink = (title: unknown, url: unknown): string => `[${title}|${url}]`;

const jira: CallsOf = {
  prepare({ body, values, baseUrl }) {
    const transitions =
      values['jira_issue_transition_automatic'] === true || textOf(values['jira_issue_transition_id']) !== '';
    const action = body['object_attributes']?.action;
    const isPush = body['object_kind'] === 'push';
    const closes = isPush ? refName(body['ref']) === body['project']?.default_branch : action === 'merge';
    if (!isPush && action !== 'open' && action !== 'merge') return [];
    const [name, username] = [
      body['user_name'] ?? body['user']?.name,
      body['user_username'] ?? body['user']?.username,
    ];
    const calls: Content[] = [];
    for (const { kind, text, title, url, branch } of mentionsOf(body)) {
      const user = jiraLink(name, `${baseUrl}/${username}`);
      const project = jiraLink(body['project']?.path_with_namespace, body['project']?.web_url);
      const on = jiraLink(branch, `${body['project']?.web_url}/-/tree/${branch}`);
      const comment = `${user} mentioned this issue in ${jiraLink(`a ${kind}`, url)} of ${project} on branch ${on}:{quote}${title}{quote}`;
      if (action !== 'merge')
        for (const key of keysIn(text)) {
          if (values['comment_on_event_enabled'] !== false) calls.push({ do: 'comment', key, comment });
          calls.push({ do: 'link', key, url, title: `${kind[0]!.toUpperCase()}${kind.slice(1)} - ${title}` });
        }
      if (closes && transitions) for (const key of closedIn(text)) calls.push({ do: 'look', key, url });
    }
    return calls.slice(0, MAX_CALLS);
  },
  request(content, { values, secrets }) {
    const root = textOf(values['api_url']) || textOf(values['url']);
    const issue = under(root, `rest/api/2/issue/${encodeURIComponent(String(content['key']))}`);
    const headers = {
      Authorization: basic(textOf(values['username']), secrets['password'] ?? ''),
      Accept: 'application/json',
    };
    switch (content['do']) {
      case 'look':
        return {
          method: 'GET',
          url: `${issue}?fields=resolution&expand=transitions`,
          headers,
          answerBytes: 64 * 1024,
        };
      case 'transition':
        return json(`${issue}/transitions`, { transition: { id: content['id'] } }, headers);
      case 'link':
        return json(
          `${issue}/remotelink`,
          {
            globalId: content['url'],
            relationship: 'mentioned on',
            object: {
              url: content['url'],
              title: content['title'],
              status: { resolved: content['resolved'] === true },
            },
          },
          headers,
        );
      default:
        return json(`${issue}/comment`, { body: content['comment'] }, headers);
    }
  },
  next({ do: what, key, url }, answer, { values }) {
    if (what !== 'look') return [];
    const issue = parsed(answer);
    if (issue === undefined || issue['fields']?.resolution) return [];
    const possible = (issue['transitions'] ?? []) as EventBody[];
    const done = possible.find(({ to }) => to?.statusCategory?.key === 'done');
    const ids =
      values['jira_issue_transition_automatic'] === true
        ? done === undefined
          ? []
          : [String(done['id'])]
        : (textOf(values['jira_issue_transition_id']).match(/\d+/g) ?? []).slice(0, 10);
    if (ids.length === 0) return [];
    const name = String(url).split('/').at(-1);
    const comment = `Issue solved with ${jiraLink(name, url)}.`;
    return [
      ...ids.map((id) => ({ do: 'transition', key, id })),
      ...(values['comment_on_event_enabled'] === false ? [] : [{ do: 'comment', key, comment }]),
      { do: 'link', key, url, title: `Solved by ${name}.`, resolved: true },
    ];
  },
};

export const trackers = { asana, assembla, jira, pivotaltracker };
