/** Chats: a message for each event, through a URL that the chat has given. */
import type { IntegrationSlug } from '../catalog.ts';
import {
  basic,
  type CallsOf,
  type Content,
  commitsOf,
  type EventBody,
  type Happening,
  isNone,
  json,
  parsed,
  query,
  refName,
  textOf,
  under,
  type Values,
} from './call.ts';
import { ANGLES, type ChatMessage, type Flavor, MARKDOWN, messageOf } from './messages.ts';

interface Said extends Content {
  readonly message: ChatMessage;
  readonly channel?: string;
}

const MAX_CHANNELS = 10;

/** The parameters that name channels, the first that is given counts. */
const CHANNELS: Readonly<Record<string, readonly string[]>> = {
  push_events: ['push_channel'],
  issues_events: ['issue_channel'],
  confidential_issues_events: ['confidential_issue_channel', 'issue_channel'],
  merge_requests_events: ['merge_request_channel'],
  note_events: ['note_channel'],
  confidential_note_events: ['confidential_note_channel', 'note_channel'],
  tag_push_events: ['tag_push_channel'],
  pipeline_events: ['pipeline_channel'],
  wiki_page_events: ['wiki_page_channel'],
};

function channelsOf(trigger: string, values: Values): (string | undefined)[] {
  const given = [...(CHANNELS[trigger] ?? []), 'channel'].map((name) => textOf(values[name]).trim());
  const names = (given.find((text) => text !== '') ?? '').split(',').map((name) => name.trim());
  const channels = [...new Set(names.filter((name) => name !== ''))].slice(0, MAX_CHANNELS);
  return channels.length === 0 ? [undefined] : channels;
}

const chat = (flavor: Flavor, body: (said: ChatMessage) => unknown, headers = {}): CallsOf => ({
  prepare({ body: event }) {
    const message = messageOf(event, flavor);
    return message === undefined ? [] : [{ message }];
  },
  request: (content, { values }) => json(textOf(values['webhook']), body((content as Said).message), headers),
});

/** Slack, and what reads the same. */
const channelled: CallsOf = {
  prepare({ body, trigger, values }) {
    const message = messageOf(body, ANGLES);
    if (message === undefined) return [];
    return channelsOf(trigger, values).map((channel) =>
      channel === undefined ? { message } : { message, channel },
    );
  },
  request(content, { values }) {
    const { message, channel } = content as Said;
    const username = textOf(values['username']);
    return json(textOf(values['webhook']), {
      ...(channel === undefined ? {} : { channel }),
      ...(username === '' ? {} : { username }),
      text: message.summary,
      attachments: message.attachments.map(({ title, url, text, color }) => ({
        fallback: message.summary,
        ...(title === undefined ? {} : { title: ANGLES.text(title), title_link: url }),
        text,
        color,
        mrkdwn_in: ['text'],
      })),
    });
  },
};

const attached = ({ attachments }: ChatMessage): string => attachments.map(({ text }) => text).join('\n\n');

/** Characters that Discord takes. */
const MAX_EMBED = 4_096;

const campfire: CallsOf = {
  prepare: ({ body, values }) =>
    textOf(values['room']) === '' || textOf(values['subdomain']) === ''
      ? []
      : [{ do: 'find', text: pushSentence(body) }],
  request({ do: what, room, text }, { values, secrets }) {
    // A password has to be there, and is not looked at.
    const headers = { Authorization: basic(secrets['token'] ?? '', 'X') };
    const root = `https://${encodeURIComponent(textOf(values['subdomain']))}.campfirenow.com`;
    if (what === 'find') return { method: 'GET', url: `${root}/rooms.json`, headers, answerBytes: 64 * 1024 };
    const url = `${root}/room/${encodeURIComponent(String(room))}/speak.json`;
    return json(url, { message: { type: 'TextMessage', body: text } }, headers);
  },
  next({ do: what, text }, answer, { values }) {
    if (what !== 'find') return [];
    const rooms = (parsed(answer)?.['rooms'] ?? []) as readonly { id?: unknown; name?: unknown }[];
    const wanted = textOf(values['room']);
    const room = rooms.find(({ id, name }) => name === wanted || String(id) === wanted);
    return room === undefined ? [] : [{ do: 'say', room: String(room.id), text }];
  },
};

function pushSentence(body: EventBody): string {
  const ref = refName(body['ref']);
  const url = body['project']?.web_url;
  const did = isNone(body['before'])
    ? `pushed new branch ${ref}`
    : isNone(body['after'])
      ? `removed branch ${ref}`
      : `pushed ${body['total_commits_count']} commits to ${ref}. ${url}/-/compare/${body['before']}...${body['after']}`;
  return `[${body['project']?.path_with_namespace}] ${body['user_name']} ${did}`;
}

const pushover: CallsOf = {
  prepare({ body }) {
    const ref = refName(body['ref']);
    const did = isNone(body['before'])
      ? `pushed new branch "${ref}".`
      : isNone(body['after'])
        ? `deleted branch "${ref}".`
        : `pushed to branch "${ref}".`;
    const count = Number(body['total_commits_count'] ?? 0);
    const total = count === 0 ? '' : `\nTotal commits count: ${count}`;
    return [
      {
        title: body['project']?.path_with_namespace,
        message: `${body['user_name']} ${did}${total}`,
        url: body['project']?.web_url,
      },
    ];
  },
  request({ title, message, url }, { values, secrets }) {
    return {
      url: 'https://api.pushover.net/1/messages.json',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: query({
        token: secrets['api_key'] ?? '',
        user: secrets['user_key'] ?? '',
        device: textOf(values['device']),
        priority: textOf(values['priority']),
        title: String(title),
        message: String(message),
        url: String(url),
        url_title: `See project ${title}`,
        sound: textOf(values['sound']),
      }),
    };
  },
};

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const flowdock: CallsOf = {
  prepare: ({ body }) =>
    commitsOf(body).map(({ id, url, message, title, author }) => {
      const rest = String(message).slice(String(title).length).trim();
      return {
        event: 'activity',
        author: { name: author?.name, email: author?.email },
        title: `<a href="${escaped(String(url))}">${String(id).slice(0, 7)}</a> ${escaped(String(title))}`,
        external_thread_id: body['ref'],
        thread: {
          title: `${body['project']?.path_with_namespace} branch ${refName(body['ref'])}`,
          external_url: body['project']?.web_url,
        },
        ...(rest === '' ? {} : { body: `<pre>${escaped(rest)}</pre>` }),
      };
    }),
  request: (content, { secrets }) =>
    json('https://api.flowdock.com/messages', { flow_token: secrets['token'], ...content }),
};

/** Commits that a room is told of. */
const MAX_IRC_COMMITS = 3;

/** Rooms as URLs: a name alone is one of the default server. */
function roomsOf({ values }: Pick<Happening, 'values'>): string[] {
  const root = textOf(values['default_irc_uri']);
  return textOf(values['recipients'])
    .split(/\s+/)
    .filter((name) => name !== '')
    .slice(0, 20)
    .flatMap((name) =>
      /^ircs?:\/\//.test(name)
        ? [name]
        : root === ''
          ? []
          : [under(root, encodeURIComponent(name.replace(/^#/, '')))],
    );
}

const irker: CallsOf = {
  prepare({ body, values }) {
    const to = roomsOf({ values });
    if (to.length === 0) return [];
    const paint = (code: string, text: string) =>
      values['colorize_messages'] === true ? `\u0003${code}${text}\u000f` : text;
    const line = (text: unknown) =>
      String(text ?? '')
        .replace(/[\r\n\0]+/g, ' ')
        .slice(0, 400);
    const name = line(body['project']?.name);
    const [repository, branch] = [paint('04', name), paint('05', line(refName(body['ref'])))];
    const url = body['project']?.web_url;
    const said: string[] = [];
    const who = line(body['user_name']);
    if (isNone(body['before']))
      said.push(
        `[${repository}] ${who} has created a new branch ${branch}: ${paint('02', `${url}/-/branches`)}`,
      );
    else if (isNone(body['after'])) said.push(`[${repository}] ${who} has deleted the branch ${branch}`);
    const count = Number(body['total_commits_count'] ?? 0);
    if (count > 0) {
      const at = `${url}/-/compare/${String(body['before']).slice(0, 8)}...${String(body['after']).slice(0, 8)}`;
      const commits = `${count} new commit${count === 1 ? '' : 's'}`;
      said.push(`[${repository}] ${who} pushed ${commits} to ${branch}: ${paint('02', at)}`);
    }
    for (const commit of commitsOf(body).slice(0, MAX_IRC_COMMITS)) {
      const files = ['added', 'modified', 'removed'].flatMap((kind) => commit[kind] ?? []).length;
      const sha = paint('14', String(commit['id']).slice(0, 8));
      const amount = paint('12', `${files} file${files === 1 ? '' : 's'}`);
      said.push(
        `${repository}/${branch} ${sha} ${line(commit['author']?.name)} (${amount}): ${line(commit['title'])}`,
      );
    }
    return [{ lines: said.map((privmsg) => JSON.stringify({ to, privmsg })) }];
  },
  request({ lines }, { values }) {
    const host = textOf(values['server_host']) || 'localhost';
    const port = Number(values['server_port'] ?? 6659);
    const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
    return {
      method: 'LINES',
      url: `http://${name}:${port}/`,
      body: (lines as string[]).map((text) => `${text}\n`).join(''),
    };
  },
};

const CARD = { '@type': 'MessageCard', '@context': 'https://schema.org/extensions' } as const;

export const chats = {
  slack: channelled,
  mattermost: channelled,
  discord: chat(MARKDOWN, (message) => ({
    embeds: [
      {
        author: {
          name: message.user.name || message.project,
          ...(URL.canParse(message.user.avatar) ? { icon_url: message.user.avatar } : {}),
        },
        description: `${message.summary}\n${attached(message)}`.trim().slice(0, MAX_EMBED),
      },
    ],
  })),
  'microsoft-teams': chat(MARKDOWN, (message) => {
    const { title, subtitle, text, image } = message.activity;
    const more = attached(message);
    return {
      ...CARD,
      title: message.project,
      summary: message.summary,
      sections: [
        { activityTitle: title, activitySubtitle: subtitle, activityText: text, activityImage: image },
        ...(more === '' ? [] : [{ text: more }]),
      ],
    };
  }),
  'hangouts-chat': chat(
    ANGLES,
    (message) => {
      const [first] = message.attachments;
      const title = first?.title === undefined ? undefined : ANGLES.link(first.title, first.url ?? '');
      const parts = [message.summary, title, first?.text];
      return { text: parts.filter((part) => part !== undefined && part !== '').join('\n') };
    },
    { 'Content-Type': 'application/json; charset=UTF-8' },
  ),
  'unify-circuit': chat(MARKDOWN, ({ project, summary }) => ({
    subject: project,
    text: summary,
    markdown: true,
  })),
  'webex-teams': chat(MARKDOWN, ({ summary }) => ({ markdown: summary })),
  campfire,
  flowdock,
  irker,
  pushover,
} as const satisfies Partial<Record<IntegrationSlug, CallsOf>>;
