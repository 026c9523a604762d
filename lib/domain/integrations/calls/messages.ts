/** What chats say of an event, in the two ways of writing that chats read. */
import { type EventBody, isNone, refName } from './call.ts';

/** How a chat writes links, and text that is no link. */
export interface Flavor {
  link(text: string, url: string): string;
  text(text: string): string;
}

/** `<url|text>`, and `&`, `<`, `>` as entities: Slack, Mattermost, Google Chat. */
export const ANGLES: Flavor = {
  link: (text, url) => `<${url.replace(/[<>|]/g, '')}|${ANGLES.text(text).replaceAll('|', '¦')}>`,
  text: (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
};

/** `[text](url)`: all others. */
export const MARKDOWN: Flavor = {
  link: (text, url) => `[${text.replace(/[[\]]/g, '')}](${url.replace(/[()\s]/g, encodeURIComponent)})`,
  text: (text) => text,
};

export interface ChatMessage {
  /** The sentence that says it all. */
  readonly summary: string;
  /** The same in parts. */
  readonly activity: {
    readonly title: string;
    readonly subtitle: string;
    readonly text: string;
    readonly image: string;
  };
  readonly attachments: readonly Attachment[];
  readonly user: { readonly name: string; readonly avatar: string };
  readonly project: string;
}

export interface Attachment {
  readonly title?: string;
  readonly url?: string;
  readonly text: string;
  readonly color: string;
}

/** Characters of a text that a message has with it. */
const MAX_TEXT = 3_000;
const MAX_TITLE = 300;
/** Commits that a message lists. */
const MAX_COMMITS = 20;

/** @returns undefined for what chats are not told: changes that are no news, and payloads of other kinds */
export function messageOf(body: EventBody, flavor: Flavor): ChatMessage | undefined {
  switch (body['object_kind']) {
    case 'push':
    case 'tag_push':
      return pushMessage(body, flavor);
    case 'issue':
      return body['object_attributes']?.action === 'update' ? undefined : issueMessage(body, flavor);
    case 'merge_request':
      return body['object_attributes']?.action === 'update' ? undefined : mergeRequestMessage(body, flavor);
    case 'note':
      return noteMessage(body, flavor);
    case 'wiki_page':
      return wikiPageMessage(body, flavor);
    case 'pipeline':
      return pipelineMessage(body, flavor);
    default:
      return undefined;
  }
}

/** The first line, shortened. */
const firstLine = (text: unknown): string =>
  String(text ?? '')
    .trim()
    .split('\n', 1)[0]!
    .slice(0, MAX_TITLE);
const shortened = (text: unknown): string => {
  const whole = String(text ?? '');
  return whole.length <= MAX_TEXT ? whole : `${whole.slice(0, MAX_TEXT)}...`;
};

const nameOf = (body: EventBody): string =>
  body['project']?.path_with_namespace === undefined
    ? ''
    : `${body['project'].namespace} / ${body['project'].name}`;
const projectUrlOf = (body: EventBody): string => String(body['project']?.web_url ?? '');

function common(body: EventBody, { link, text }: Flavor) {
  const user = body['user'] ?? {
    name: body['user_name'],
    username: body['user_username'],
    avatar_url: body['user_avatar'],
  };
  const name = [user?.name, user?.username === undefined ? undefined : `(${user.username})`]
    .filter((part) => part !== undefined && part !== null)
    .join(' ');
  return {
    who: text(name === '' ? 'Somebody' : name),
    where: link(nameOf(body), projectUrlOf(body)),
    user: { name: String(user?.name ?? ''), avatar: String(user?.avatar_url ?? '') },
    project: nameOf(body),
    image: String(user?.avatar_url ?? ''),
  };
}

function pushMessage(body: EventBody, flavor: Flavor): ChatMessage {
  const { link, text } = flavor;
  const { who, where, user, project, image } = common(body, flavor);
  const tag = body['object_kind'] === 'tag_push';
  const kind = tag ? 'tag' : 'branch';
  const name = refName(body['ref']);
  const path = name.split('/').map(encodeURIComponent).join('/');
  const ref = link(name, `${projectUrlOf(body)}/-/${tag ? 'tags' : 'commits'}/${path}`);
  const compareUrl = `${projectUrlOf(body)}/-/compare/${body['before']}...${body['after']}`;
  const compare = link('Compare changes', compareUrl);
  const [did, more] = isNone(body['before'])
    ? [`pushed new ${kind} ${ref}`, `to ${where}`]
    : isNone(body['after'])
      ? [`removed ${kind} ${text(name)}`, `from ${where}`]
      : [`pushed to ${kind} ${ref}`, `of ${where} (${compare})`];
  const isChange = !isNone(body['before']) && !isNone(body['after']);
  const commits = ((body['commits'] ?? []) as EventBody[]).slice(-MAX_COMMITS).map((commit) => {
    const id = link(String(commit['id']).slice(0, 8), String(commit['url']));
    return `${id}: ${text(firstLine(commit['title']))} - ${text(String(commit['author']?.name ?? ''))}`;
  });
  return {
    summary: `${who} ${did} ${more}`,
    activity: { title: `${who} ${did}`, subtitle: `in ${where}`, text: compare, image },
    attachments: isChange && commits.length > 0 ? [{ text: commits.join('\n\n'), color: '#345' }] : [],
    user,
    project,
  };
}

function issueMessage(body: EventBody, flavor: Flavor): ChatMessage {
  const { link, text } = flavor;
  const { who, where, user, project, image } = common(body, flavor);
  const issue = body['object_attributes'];
  const title = `#${issue.iid} ${firstLine(issue.title)}`;
  const at = link(title, issue.url);
  return {
    summary: `[${where}] Issue ${at} ${issue.state} by ${who}`,
    activity: { title: `Issue ${issue.state} by ${who}`, subtitle: `in ${where}`, text: at, image },
    attachments:
      issue.action === 'open' && issue.description
        ? [{ title, url: issue.url, text: text(shortened(issue.description)), color: '#C95823' }]
        : [],
    user,
    project,
  };
}

function mergeRequestMessage(body: EventBody, flavor: Flavor): ChatMessage {
  const { link } = flavor;
  const { who, where, user, project, image } = common(body, flavor);
  const { iid, title: name, url, action, state } = body['object_attributes'];
  const approval = APPROVALS[action];
  const did: string = approval ?? (VERDICTS.has(action) ? action : state);
  const title = approval === undefined ? `Merge request ${did} by ${who}` : `${who} ${did} a merge request`;
  const at = link(`!${iid} ${firstLine(name)}`, url);
  return {
    summary: `${who} ${did} merge request ${at} in ${where}`,
    activity: { title, subtitle: `in ${where}`, text: at, image },
    attachments: [],
    user,
    project,
  };
}

/** Not the last approval that was needed, and the loss of one that did not suffice. */
const APPROVALS: Readonly<Record<string, string>> = {
  approval: 'added their approval to',
  unapproval: 'removed their approval from',
};
const VERDICTS: ReadonlySet<string> = new Set(['approved', 'unapproved']);

function noteMessage(body: EventBody, flavor: Flavor): ChatMessage {
  const { link, text } = flavor;
  const { who, where, user, project, image } = common(body, flavor);
  const { note, url } = body['object_attributes'];
  const { commit, issue, merge_request: mergeRequest, snippet } = body;
  const [what, title] =
    commit !== undefined
      ? [`commit ${String(commit.id).slice(0, 8)}`, commit.message]
      : issue !== undefined
        ? [`issue #${issue.iid}`, issue.title]
        : mergeRequest !== undefined
          ? [`merge request !${mergeRequest.iid}`, mergeRequest.title]
          : [`snippet $${snippet?.id ?? ''}`, snippet?.title];
  const did = `${who} ${link(`commented on ${what}`, url)}`;
  const named = text(firstLine(title));
  return {
    summary: `${did} in ${where}: *${named}*`,
    activity: { title: did, subtitle: `in ${where}`, text: named, image },
    attachments: [{ text: text(shortened(note)), color: '#345' }],
    user,
    project,
  };
}

const WIKI_ACTIONS: Readonly<Record<string, string>> = {
  create: 'created',
  update: 'edited',
  delete: 'deleted',
};

function wikiPageMessage(body: EventBody, flavor: Flavor): ChatMessage {
  const { link, text } = flavor;
  const { who, where, user, project, image } = common(body, flavor);
  const { title, url, action, message } = body['object_attributes'];
  const did = `${who} ${WIKI_ACTIONS[action] ?? 'edited'} ${link('wiki page', url)}`;
  const named = text(firstLine(title));
  return {
    summary: `${did} in ${where}: *${named}*`,
    activity: { title: did, subtitle: `in ${where}`, text: named, image },
    attachments: message ? [{ text: text(shortened(message)), color: '#345' }] : [],
    user,
    project,
  };
}

function pipelineMessage(body: EventBody, flavor: Flavor): ChatMessage {
  const { link, text } = flavor;
  const { who, where, user, project, image } = common(body, flavor);
  const pipeline = body['object_attributes'] ?? {};
  const tag = pipeline.tag === true;
  const url = `${projectUrlOf(body)}/-/pipelines/${pipeline.id}`;
  const path = String(pipeline.ref).split('/').map(encodeURIComponent).join('/');
  const ref = link(String(pipeline.ref), `${projectUrlOf(body)}/-/${tag ? 'tags' : 'commits'}/${path}`);
  const ended = STATUSES[pipeline.status] ?? String(pipeline.status);
  const took = duration(pipeline.duration);
  const what = `Pipeline ${link(`#${pipeline.id}`, url)} of ${tag ? 'tag' : 'branch'} ${ref} by ${who} ${ended}`;
  const failed = ((body['builds'] ?? []) as EventBody[])
    .filter(({ status, allow_failure }) => status === 'failed' && allow_failure !== true)
    .slice(0, 10)
    .map(({ id, name }) => link(String(name), `${projectUrlOf(body)}/-/jobs/${id}`));
  const commit = body['commit'];
  const details = [
    ...(commit?.url === undefined
      ? []
      : [`Commit: ${link(firstLine(commit.title ?? commit.message), commit.url)}`]),
    ...(failed.length === 0 ? [] : [`Failed jobs: ${failed.join(', ')}`]),
  ];
  return {
    summary: `${where}: ${what} in ${took}`,
    activity: { title: what, subtitle: `in ${where}`, text: `in ${took}`, image },
    attachments: [
      {
        title: `Pipeline #${pipeline.id} ${ended} in ${took}`,
        url,
        text: details.join('\n'),
        color: pipeline.status === 'success' ? 'good' : 'danger',
      },
    ],
    user: user.name === '' ? { ...user, name: text('API') } : user,
    project,
  };
}

const STATUSES: Readonly<Record<string, string>> = { success: 'has passed', failed: 'has failed' };

/** `02:05`, or `1:02:05`. */
function duration(seconds: unknown): string {
  const whole = Math.max(0, Math.round(Number(seconds ?? 0) || 0));
  const two = (n: number) => String(n).padStart(2, '0');
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return `${hours === 0 ? '' : `${hours}:`}${two(minutes)}:${two(whole % 60)}`;
}
