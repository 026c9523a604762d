/** Issues that go on with discussions of a merge request: they name these, which are resolved by it. */

import type { IssueRecord } from '../../records/issues.ts';
import { type DiscussionRecord, isResolvable, type NoteRecord } from '../../records/notes.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../errors.ts';
import { discussionIdOf } from '../notes/discussion-id.ts';
import type { NotedObject } from '../notes/noteable.ts';
import { discussionOf, notesIn } from '../notes/notes.ts';
import { resolveDiscussion } from '../notes/resolve.ts';
import { getMergeRequest } from './find.ts';
import { mergeRequestWithNotes } from './noted.ts';

/** Discussions that one issue goes on with. */
const MAX_DISCUSSIONS = 50;
/** Discussions read at once, and how often, to find those that are open. */
const PAGE = 100;
const MAX_PAGES = 30;
/** Characters that are quoted of a note. */
const MAX_QUOTE = 2_000;

export interface FollowUp {
  /** What an issue says of the discussions that has no text of its own. */
  readonly description: string;
  /** Resolves those that the actor may resolve. */
  resolve(issue: IssueRecord): Promise<void>;
}

interface Asked {
  /** Of the merge request, in the project of the issue. */
  readonly iid: number;
  /** Undefined: all that are open. */
  readonly discussionId?: string | undefined;
  readonly baseUrl: string;
}

interface Continued {
  readonly discussion: DiscussionRecord;
  readonly first: NoteRecord;
}

/** @returns undefined where the actor sees no such merge request */
export async function followUpOf(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  { iid, discussionId, baseUrl }: Asked,
): Promise<FollowUp | undefined> {
  const [on, found] = await Promise.all([
    seen(mergeRequestWithNotes(deps, actor, access, iid)),
    seen(getMergeRequest(deps, actor, access, iid)),
  ]);
  if (on === undefined || found === undefined) return undefined;
  const discussions =
    discussionId === undefined
      ? await openOf(deps, on, found.mergeRequest.unresolvedCount)
      : [await seen(discussionOf(deps, on, discussionId))].filter((each) => each !== undefined);
  const continued = await withFirst(deps, on, discussions);
  return {
    description: await describe(
      deps,
      continued,
      iid,
      `${baseUrl}/${access.project.fullPath}/-/merge_requests/${iid}`,
    ),
    resolve: async (issue) => {
      for (const { discussion, first } of continued)
        await continueIn(deps, actor, on, discussion, first, issue);
    },
  };
}

async function seen<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof DomainError && ['not-found', 'forbidden'].includes(error.code)) return undefined;
    throw error;
  }
}

/** The first of the discussions that are to be resolved. @param count how many there are */
async function openOf(
  { store }: Deps,
  { projectId, noteable }: NotedObject,
  count: number,
): Promise<DiscussionRecord[]> {
  const open: DiscussionRecord[] = [];
  const wanted = Math.min(count, MAX_DISCUSSIONS);
  let after = 0;
  for (let page = 0; page < MAX_PAGES && open.length < wanted; page++) {
    const some = await store.discussions.next(projectId, noteable, after, PAGE);
    open.push(...some.filter((each) => isResolvable(each) && each.resolved === undefined));
    if (some.length < PAGE) break;
    after = some.at(-1)!.firstId;
  }
  return open.slice(0, wanted);
}

async function withFirst(
  { store }: Deps,
  { projectId, noteable }: NotedObject,
  discussions: readonly DiscussionRecord[],
): Promise<Continued[]> {
  const ids = await Promise.all(discussions.map((each) => store.discussions.noteIds(each, 0, 1)));
  const notes = await store.notes.getMany(ids.map(([id]) => ({ projectId, noteable, id: id! })));
  return discussions.flatMap((discussion, i) => {
    const first = notes[i];
    return first === undefined ? [] : [{ discussion, first }];
  });
}

async function describe(deps: Deps, continued: readonly Continued[], iid: number, url: string) {
  if (continued.length === 0)
    return `There are no unresolved discussions. Review the conversation in !${iid}`;
  const texts = await deps.store.texts.readMany(continued.map(({ first }) => first.body));
  const items = continued.map(({ discussion, first: { id, author } }, i) => {
    const others = notesIn(discussion) - 1;
    const more = others === 0 ? '' : ` (+${others} ${others === 1 ? 'comment' : 'comments'})`;
    const did = id === discussion.firstId ? 'started' : 'commented on';
    const quote = texts[i]!.slice(0, MAX_QUOTE).toWellFormed().replaceAll(/^/gm, '    > ');
    return `- [ ] @${author.username} ${did} a [discussion](${url}#note_${id}): ${more}\n\n${quote}`;
  });
  const what = continued.length === 1 ? 'discussion' : 'discussions';
  return [`The following ${what} from !${iid} should be addressed:`, ...items].join('\n\n');
}

async function continueIn(
  deps: Deps,
  actor: Actor,
  on: NotedObject,
  { projectId, noteable, firstId }: DiscussionRecord,
  { position }: NoteRecord,
  { iid, projectId: issueProject }: IssueRecord,
): Promise<void> {
  const lastWord = {
    ...{ action: 'discussion', text: `created #${iid} to continue this discussion` },
    mentionedIn: { kind: 'issue', projectId: issueProject, iid } as const,
    ...(position === undefined ? {} : { position }),
  };
  try {
    const id = discussionIdOf(projectId, noteable, firstId);
    await resolveDiscussion(deps, actor, on, id, true, lastWord);
  } catch (error) {
    // The issue is there; the discussion is gone, or others resolve it.
    if (!(error instanceof DomainError)) throw error;
  }
}
