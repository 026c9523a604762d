/** Payloads of notes. */
import type { NotePosition, NoteRecord } from '../../../records/notes.ts';
import type { SnippetRecord } from '../../../records/snippets.ts';
import type { Deps } from '../../deps.ts';
import type { HookEvent } from '../../hook-events/events.ts';
import { lineCode } from '../../merge-requests/positions.ts';
import { discussionIdOf } from '../../notes/discussion-id.ts';
import { shownPosition } from '../../notes/shown-position.ts';
import { openSnippetFile } from '../../snippets/snippets.ts';
import { withAbsoluteImages } from './images.ts';
import {
  commitOf,
  commitPart,
  type Payload,
  type ProjectFacts,
  projectPart,
  projectUrl,
  repositoryPart,
  stamp,
  textOf,
  userPart,
  VISIBILITY_LEVELS,
} from './parts.ts';
import { issueAttributes, mergeRequestAttributes } from './tracked.ts';

type EventOf<K extends HookEvent['kind']> = Extract<HookEvent, { kind: K }>;

/** @returns none when the note, or what it is on, is gone */
export async function notePayloads(
  deps: Deps,
  facts: ProjectFacts,
  event: EventOf<'note'>,
): Promise<Payload[]> {
  const { project, user } = facts;
  const noteable = { kind: event.on, id: event.noteable } as NoteRecord['noteable'];
  const note = await deps.store.notes.get({ projectId: project.id, noteable, id: event.noteId });
  if (note === undefined) return [];
  const about = await noteableOf(deps, facts, event);
  if (about === undefined) return [];
  const text = await textOf(deps, note.body);
  const confidential = note.internal === true || about.confidential;
  const body = {
    object_kind: 'note',
    event_type: confidential ? 'confidential_note' : 'note',
    user: userPart(user, facts),
    project_id: project.id,
    project: projectPart(project, facts),
    object_attributes: noteAttributes(facts, note, event, text, about.url),
    repository: repositoryPart(project, facts),
    ...about.part,
  };
  return [
    {
      trigger: confidential ? 'confidential_note_events' : 'note_events',
      event: confidential ? 'Confidential Note Hook' : 'Note Hook',
      body,
      for: ['project', 'group'],
    },
  ];
}

const NOTEABLE_TYPES = {
  commit: 'Commit',
  issue: 'Issue',
  'merge-request': 'MergeRequest',
  snippet: 'Snippet',
} as const;

function noteAttributes(
  facts: ProjectFacts,
  note: NoteRecord,
  { on, noteable }: EventOf<'note'>,
  text: string | null,
  url: string,
) {
  const { id: projectId } = facts.project;
  const { line, position } = note;
  const at = position === undefined ? null : shownPosition(position);
  return {
    attachment: null,
    author_id: note.author.id,
    change_position: position === undefined ? null : nowhere(position),
    commit_id: on === 'commit' ? noteable : null,
    created_at: stamp(note.createdAt),
    discussion_id: discussionIdOf(projectId, note.noteable, note.inDiscussion ?? note.id),
    id: note.id,
    line_code: codeOfLine(note),
    note: text,
    noteable_id: on === 'commit' ? null : noteable,
    noteable_type: NOTEABLE_TYPES[on],
    original_position: at,
    position: at,
    project_id: projectId,
    resolved_at: null,
    resolved_by_id: null,
    resolved_by_push: null,
    st_diff: null,
    system: note.system !== undefined,
    type:
      line !== null || position !== undefined
        ? 'DiffNote'
        : note.discussed === true
          ? 'DiscussionNote'
          : null,
    updated_at: stamp(note.updatedAt),
    updated_by_id: null,
    description: withAbsoluteImages(text, facts),
    url: `${url}#note_${note.id}`,
    action: 'create',
  };
}

function codeOfLine({ line, position }: NoteRecord): string | null {
  if (position !== undefined) return position.on.kind === 'text' ? position.on.line.code : null;
  return line === null ? null : lineCode({ newPath: line.path }, [line.oldLine, line.newLine]);
}

/** Where a change moved the place of a note that is new: nowhere. */
const nowhere = (position: NotePosition) =>
  Object.fromEntries(
    Object.entries(shownPosition(position)).map(([name, value]) => [
      name,
      name === 'position_type' ? value : null,
    ]),
  );

/** What a note is on, as payloads tell of it. */
async function noteableOf(deps: Deps, facts: ProjectFacts, { on, noteable, iid }: EventOf<'note'>) {
  const { project } = facts;
  const url = projectUrl(project, facts.baseUrl);
  if (on === 'commit') {
    const commit = await commitOf(deps, project, String(noteable));
    if (commit === undefined) return undefined;
    const part = { commit: commitPart(project, commit, facts) };
    return { part, confidential: false, url: `${url}/-/commit/${noteable}` };
  }
  if (on === 'snippet') {
    const snippet = await deps.store.snippets.get(Number(noteable));
    if (snippet === undefined) return undefined;
    const at = `${url}/-/snippets/${snippet.id}`;
    const part = { snippet: { ...(await snippetPart(deps, snippet)), url: at } };
    return { part, confidential: false, url: at };
  }
  if (iid === undefined) return undefined;
  const address = { projectId: project.id, iid };
  if (on === 'issue') {
    const issue = await deps.store.issues.get(address);
    if (issue === undefined) return undefined;
    const part = { issue: await issueAttributes(deps, facts, issue) };
    return { part, confidential: issue.confidential, url: part.issue.url };
  }
  const record = await deps.store.mergeRequests.get(address);
  if (record === undefined) return undefined;
  const part = { merge_request: await mergeRequestAttributes(deps, facts, record) };
  return { part, confidential: false, url: part.merge_request.url };
}

async function snippetPart(deps: Deps, snippet: SnippetRecord) {
  const { id, title, description, author, projectId, files, visibility, createdAt, updatedAt } = snippet;
  return {
    id,
    title,
    description,
    content: await contentOf(deps, snippet),
    author_id: author.id,
    project_id: projectId,
    created_at: stamp(createdAt),
    updated_at: stamp(updatedAt),
    file_name: files[0] ?? null,
    type: projectId === null ? 'PersonalSnippet' : 'ProjectSnippet',
    visibility_level: VISIBILITY_LEVELS[visibility],
  };
}

/** The beginning of its first file; empty where it cannot be read. */
async function contentOf(deps: Deps, snippet: SnippetRecord): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    const { content } = await openSnippetFile(deps, { snippet });
    for await (const piece of content instanceof Uint8Array ? [content] : content) {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes >= MAX_CONTENT) break;
    }
  } catch {
    return '';
  }
  return Buffer.concat(pieces).subarray(0, MAX_CONTENT).toString('utf8');
}

/** Bytes of a snippet's file in a payload. */
const MAX_CONTENT = 100_000;
