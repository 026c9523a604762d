/** Integrations that are mail: about pushes, and about pipelines. */

import { decodePath } from '../../git/tree/path.ts';
import type { IntegrationRecord } from '../../records/integrations.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { UserRecord } from '../../records/users.ts';
import type { OutboxMessage } from '../../store/outbox/outbox.ts';
import type { Deps } from '../deps.ts';
import { headerText, mailMessage } from '../mail/message.ts';
import { emailProblems } from '../name-rules.ts';
import { compareRefs } from '../repository/compare.ts';
import { diffLimits } from '../repository/diff-limits.ts';
import { codeOf } from '../repository/read.ts';
import { commitsOf, type EventBody, isNone, refName, textOf } from './calls/call.ts';
import { isChosen, type ToldEvent, valuesOf } from './deliveries.ts';
import { recipientsOf } from './integrations.ts';

/** Characters of all differences in one mail, and of the message of one commit. */
const MAX_DIFF = 60_000;
const MAX_MESSAGE = 2_000;
/** Bytes of a text as JSON: it is in a message of a queue, for each address. */
const MAX_TEXT = 100_000;
/** Files that a mail names of one commit. */
const MAX_FILES = 100;

/**
 * What an integration mails about an event, once however often this runs.
 * @param by who caused the event
 * @param id of the event
 */
export async function mailsFor(
  deps: Deps,
  integration: IntegrationRecord,
  project: ProjectRecord,
  told: ToldEvent,
  by: UserRecord | undefined,
  id: string,
): Promise<OutboxMessage[]> {
  const { slug } = integration;
  if (slug !== 'emails-on-push' && slug !== 'pipelines-email') return [];
  if (!(await isChosen(deps, integration, project, told))) return [];
  const values = valuesOf(integration);
  const mail =
    slug === 'pipelines-email'
      ? pipelineMail(project, told.body)
      : pushMail(
          project,
          told.body,
          values['disable_diffs'] === true ? '' : await diffOf(deps, project, told.body),
        );
  const text = shortened(mail.text);
  const author =
    slug === 'emails-on-push' && by !== undefined
      ? { author: authorOf(by, values['send_from_committer_email'] === true) }
      : {};
  return recipientsOf(textOf(values['recipients']))
    .filter((to) => emailProblems(to).length === 0)
    .map((to, index) => ({
      ...mailMessage({ to, subject: mail.subject, text, ...author }),
      id: `${id}-${integration.id}-${index}`,
    }));
}

/** An address that nobody has confirmed may be anybody's. */
const authorOf = ({ name, username, email, confirmedAt }: UserRecord, withAddress: boolean) => ({
  name: headerText(`${name} (@${username})`),
  ...(withAddress && confirmedAt !== null ? { address: email } : {}),
});

function shortened(text: string): string {
  let short = text;
  while (Buffer.byteLength(JSON.stringify(short)) > MAX_TEXT)
    short = `${short.slice(0, short.length / 2).replace(/[\uD800-\uDBFF]$/, '')}\n[...]\n`;
  return short;
}

function pushMail({ fullPath }: ProjectRecord, body: EventBody, diff: string) {
  const ref = refName(body['ref']);
  const kind = body['object_kind'] === 'tag_push' ? 'tag' : 'branch';
  const url = String(body['project']?.web_url ?? '');
  const commits = commitsOf(body);
  const total = Number(body['total_commits_count'] ?? commits.length);
  const title = String(commits.at(-1)?.['title'] ?? '');
  const isNew = isNone(body['before']);
  const isGone = isNone(body['after']);
  const did = isNew ? `pushed new ${kind}` : isGone ? `deleted ${kind}` : `pushed to ${kind}`;
  const what = isNew
    ? `Pushed new ${kind} ${ref}`
    : isGone
      ? `Deleted ${kind} ${ref}`
      : total > 1
        ? `${total} commits: ${title}`
        : title;
  const about = commits.map(({ id, author, timestamp, message, ...files }) => {
    const changed = (['added', 'modified', 'removed'] as const)
      .flatMap((how) => ((files[how] ?? []) as string[]).map((path) => `  ${how} ${path}`))
      .slice(0, MAX_FILES);
    return [
      `${String(id).slice(0, 8)} by ${author?.name} at ${timestamp}`,
      String(message).slice(0, MAX_MESSAGE).trim(),
      ...changed,
    ].join('\n');
  });
  const parts = [
    `${body['user_name'] ?? 'Somebody'} ${did} ${ref} at ${fullPath}`,
    ...(about.length === 0 ? [] : ['Commits:', ...about]),
    ...(total > about.length ? [`There are ${total} commits.`] : []),
    ...(diff === '' ? [] : [diff]),
    isGone
      ? url
      : isNew
        ? `${url}/-/${kind === 'tag' ? 'tags' : 'commits'}/${ref}`
        : `${url}/-/compare/${body['before']}...${body['after']}`,
  ];
  return { subject: `[Git][${fullPath}][${ref}] ${what}`, text: `${parts.join('\n\n')}\n` };
}

/** What a push changed; nothing of new and deleted branches, and where it cannot be told. */
async function diffOf(deps: Deps, project: ProjectRecord, body: EventBody): Promise<string> {
  const [from, to] = [String(body['before']), String(body['after'])];
  if (body['object_kind'] !== 'push' || isNone(from) || isNone(to)) return '';
  const git = codeOf(deps, { project, level: 0 });
  const range = { from, to, straight: true };
  const found = await compareRefs(git, range, await diffLimits(deps)).catch(() => undefined);
  const files = (found?.files ?? []).map(
    ({ newPath, text }) => `--- ${decodePath(newPath)}\n${text.toString('utf8')}`,
  );
  const whole = files.join('\n');
  return whole.length <= MAX_DIFF ? whole.trimEnd() : `${whole.slice(0, MAX_DIFF)}\n[...]`;
}

const ENDS: Readonly<Record<string, string>> = { success: 'has passed', failed: 'has failed' };

function pipelineMail({ fullPath }: ProjectRecord, body: EventBody) {
  const { id, ref, sha, status } = body['object_attributes'] ?? {};
  const ended = ENDS[status] ?? String(status);
  const url = `${body['project']?.web_url}/-/pipelines/${id}`;
  const failed = ((body['builds'] ?? []) as EventBody[])
    .filter((job) => job['status'] === 'failed')
    .slice(0, 20)
    .map((job) => `  ${job['stage'] ?? ''}/${job['name']}`);
  const commit = body['commit'];
  const parts = [
    `Pipeline #${id} ${ended} for ${ref} at ${fullPath}.`,
    ...(commit?.title === undefined ? [] : [`Commit: ${String(sha).slice(0, 8)} ${commit.title}`]),
    ...(failed.length === 0 ? [] : [`Failed jobs:\n${failed.join('\n')}`]),
    url,
  ];
  return {
    subject: `${fullPath} | Pipeline #${id} ${ended} for ${ref} | ${String(sha).slice(0, 8)}`,
    text: `${parts.join('\n\n')}\n`,
  };
}
