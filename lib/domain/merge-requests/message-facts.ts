/** Reads what the message of a merge tells, as far as its template asks for it. */

import type { Oid } from '../../git/oid.ts';
import type { GitRepository } from '../../git/repository.ts';
import { inTurns } from '../../git/work.ts';
import { byId } from '../../records/by-id.ts';
import type { MergeRequestRecord } from '../../records/merge-requests.ts';
import type { UserRecord } from '../../records/users.ts';
import { signedIn } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { closesIssues } from '../markdown/closing.ts';
import { identityOf } from '../repository/identity.ts';
import { bounded } from '../repository/read.ts';
import { MAX_NAMED_COMMITS, type MessageFacts, tells } from './messages.ts';

/** Issues that a message says it closes. */
const MAX_NAMED_ISSUES = 100;

export async function messageFacts(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  {
    record,
    targetSha,
    template,
  }: {
    readonly record: MergeRequestRecord;
    readonly targetSha: Oid;
    /** All templates that are to be filled. */
    readonly template: string;
  },
  git: GitRepository,
): Promise<MessageFacts> {
  const { project } = access;
  const { author, approvals, reviewerIds, source, targetBranch, iid, title } = record;
  const closes = targetBranch === project.defaultBranch && tells(template, 'issues');
  const named = [
    author.id,
    ...(tells(template, 'approvers') ? approvals.map(({ userId }) => userId) : []),
    ...(tells(template, 'reviewers') ? reviewerIds : []),
  ];
  const [users, description, commits] = await Promise.all([
    deps.store.users.getMany([...new Set(named)]),
    record.description === null || !(closes || tells(template, 'description'))
      ? ''
      : deps.store.texts.read(record.description),
    tells(template, 'commits') ? ownCommits(git, record.diff.headSha as Oid, targetSha) : [],
  ]);
  const now = deps.now();
  const usersById = byId(users);
  const people = (ids: readonly number[]) =>
    ids.flatMap((id) => (usersById.has(id) ? [identityOf(usersById.get(id) as UserRecord, now)] : []));
  const merger = identityOf(signedIn(actor).user, now);
  return {
    sourceBranch: source.branch,
    targetBranch,
    title,
    description,
    iid,
    reference: `${project.fullPath}!${iid}`,
    url: `${actor.origin?.baseUrl ?? deps.environment.baseUrl ?? ''}/${project.fullPath}/-/merge_requests/${iid}`,
    sourceProjectId: source.projectId,
    author: people([author.id])[0] ?? merger,
    merger,
    issues: closes ? await closedIssues(`${title}\n\n${description}`, project.fullPath) : [],
    approvers: people(approvals.map(({ userId }) => userId)),
    reviewers: people(reviewerIds),
    commits,
  };
}

async function ownCommits(git: GitRepository, head: Oid, target: Oid) {
  const commits = await bounded(() => git.log({ tips: [head], exclude: [target], limit: MAX_NAMED_COMMITS }));
  return commits.filter(({ parents }) => parents.length < 2);
}

/** As a text in the project names them. */
const closedIssues = async (text: string, ownPath: string): Promise<string[]> =>
  (await inTurns(closesIssues(text)))
    .slice(0, MAX_NAMED_ISSUES)
    .map(({ container, number }) => `${container === ownPath ? '' : (container ?? '')}#${number}`);
