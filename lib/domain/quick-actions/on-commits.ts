/** Runs the quick actions in notes on commits. */

import type { Oid } from '../../git/oid.ts';
import { systemNote } from '../../records/notes.ts';
import { noteWrites } from '../../store/notes/notes.ts';
import { pinRows } from '../../store/repository/pinned-commits.ts';
import { can, signedIn } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../errors.ts';
import type { ActedNote, NotedObject } from '../notes/noteable.ts';
import { createTag, type NewTag, preparedTag } from '../tags/tags.ts';
import { extractFromNote, patternOf } from './extract.ts';
import { interpret, type QuickAction } from './interpret.ts';

interface CommitContext {
  readonly deps: Deps;
  readonly actor: Extract<Actor, { kind: 'user' }>;
  readonly access: ProjectAccess;
  readonly commit: Oid;
}

/** Commits have no fields that change. */
type NoFields = Readonly<Record<never, never>>;

const COMMIT_ACTIONS: readonly QuickAction<CommitContext, NoFields>[] = [
  {
    names: ['tag'],
    argument: 'needed',
    applies: ({ actor, access }) => can(actor, access, 'push_code'),
    effect: async (context, argument) => {
      const [, name = '', message = ''] = /^(\S+)\s*(.*)$/.exec(argument) ?? [];
      const tag = { name, ref: context.commit, message: message === '' ? undefined : message };
      try {
        await preparedTag(context.deps, context.actor, context.access, tag);
      } catch (error) {
        if (error instanceof DomainError) return { summary: `Failed to tag this commit: ${error.message}.` };
        throw error;
      }
      return {
        summary: `Tagged this commit to ${name}${message === '' ? '' : ` with "${message}"`}.`,
        changes: () => ({ tag_name: name, ...(message === '' ? {} : { tag_message: message }) }),
        finish: () => tagged(context, tag),
      };
    },
  },
];

const PATTERN = patternOf(COMMIT_ACTIONS.flatMap(({ names }) => names));

/** @throws 400 for too many or too long actions */
export async function actOnCommit(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  on: NotedObject,
  note: string,
): Promise<ActedNote | undefined> {
  const found = extractFromNote(note, PATTERN);
  if (found === undefined) return undefined;
  const context = { deps, actor: signedIn(actor), access, commit: on.noteable.id as Oid };
  const { summary, changes, finish } = await interpret(COMMIT_ACTIONS, context, found.actions);
  return { text: found.text, summary, changes, on, apply: () => Promise.resolve(), finish: () => finish({}) };
}

/** Creates the tag, and notes it on the commit in the same transaction. */
async function tagged({ deps, actor, access, commit }: CommitContext, tag: NewTag): Promise<void> {
  const { id: projectId, fullPath } = access.project;
  const path = tag.name.split('/').map(encodeURIComponent).join('/');
  const note = systemNote(
    await deps.store.notes.nextId(),
    { projectId, noteable: { kind: 'commit', id: commit } },
    { action: 'tag', text: `tagged commit ${commit} to [\`${tag.name}\`](/${fullPath}/-/tags/${path})` },
    actor.user,
    deps.now().toISOString(),
  );
  const pins = pinRows(access.project.repositoryId, [commit]);
  await createTag(deps, actor, access, tag, { writes: [...noteWrites(note), ...pins] });
}
