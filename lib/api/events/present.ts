import type { FeedItem } from '../../domain/feeds/feed.ts';
import type { EventRecord, PushRecord } from '../../store/events/events.ts';
import { TYPES } from '../noteable-types.ts';
import { author as authorOf, userBasic } from '../users/present.ts';

/** An event as the REST API returns it. */
export function activityEvent({ event, author, note }: FeedItem, baseUrl: string) {
  const { target, push } = event;
  return {
    id: event.id,
    title: null,
    project_id: event.groupId === undefined ? event.projectId : null,
    action_name: actionName(event),
    target_id: target?.id ?? null,
    // A target without a number in its project or group is shown with its global ID.
    target_iid: target?.iid ?? target?.id ?? null,
    target_type: target?.type ?? null,
    author_id: event.authorId,
    target_title: target?.title ?? null,
    created_at: event.createdAt,
    author: userBasic(author, baseUrl),
    author_username: author.username,
    data: null,
    ...(note === undefined ? {} : { note: noteOf(note, event, author, baseUrl) }),
    ...(push === null ? {} : { push_data: pushData(push) }),
    ...(target?.page === undefined ? {} : { wiki_page: { ...target.page, title: target.title ?? '' } }),
  };
}

/** The action as text for people; the filter `action` uses other names. */
function actionName({ action, push, imported, target }: EventRecord): string {
  if (push !== null) return PUSHES[push.action];
  const opens = action === 'created' || action === 'reopened';
  if (target !== null && target.page === undefined && opens) return 'opened';
  if (action === 'created' && imported === true) return 'imported';
  return ACTIONS[action] ?? action;
}

const PUSHES = { created: 'pushed new', pushed: 'pushed to', removed: 'deleted' } as const;
const ACTIONS: Readonly<Partial<Record<EventRecord['action'], string>>> = {
  commented: 'commented on',
  merged: 'accepted',
  expired: 'removed due to membership expiration from',
};

const pushData = (push: PushRecord) => ({
  commit_count: push.commitCount,
  action: push.action,
  ref_type: push.refType,
  commit_from: push.from,
  commit_to: push.to,
  ref: push.ref,
  commit_title: push.commitTitle,
  ref_count: push.refCount,
});

function noteOf(
  { record: note, body }: NonNullable<FeedItem['note']>,
  { target }: EventRecord,
  author: FeedItem['author'],
  baseUrl: string,
) {
  const { noteable } = note;
  return {
    id: note.id,
    type: target?.type === 'Note' ? null : (target?.type ?? null),
    body,
    attachment: null,
    author: authorOf(author.id === note.author.id ? author : undefined, note.author, baseUrl),
    created_at: note.createdAt,
    updated_at: note.updatedAt,
    system: false,
    // A commit has no numeric ID.
    noteable_id: noteable.kind === 'commit' ? null : noteable.id,
    noteable_type: TYPES[noteable.kind],
    noteable_iid: note.iid ?? null,
    ...(noteable.kind === 'commit' ? { commit_id: noteable.id } : {}),
    resolvable: false,
    confidential: note.internal === true,
  };
}
