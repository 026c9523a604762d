/** Notifications, enqueued in the transaction of the change that they are about. */

import type { InvitationRecord } from '../../records/invitations.ts';
import type { MemberRecord, MemberSource } from '../../records/members.ts';
import type { FormerMentions } from '../../records/notifications.ts';
import type { PipelineOutcome } from '../../records/pipelines.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { MAINTENANCE, message, type OutboxMessage } from '../../store/outbox/outbox.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';

/** What happened to an issue or a merge request. */
export type ChangeOfTracked =
  | { readonly what: 'opened' | 'closed' | 'reopened' }
  /** Of `formerIds`: all who were assigned before. */
  | { readonly what: 'reassigned'; readonly formerIds: readonly number[] }
  /** Labels that it was given. */
  | { readonly what: 'relabelled'; readonly labelIds: readonly number[] }
  | { readonly what: 'replanned'; readonly milestoneId: number | null }
  /** Its description changed. */
  | { readonly what: 'described'; readonly former: FormerMentions };

/** What happened to an issue. */
export type ChangeOfIssue =
  | ChangeOfTracked
  | { readonly what: 'moved' }
  /** It is due on that day, `YYYY-MM-DD`. */
  | { readonly what: 'due'; readonly day: string };

/** What happened to a merge request. */
export type ChangeOfMergeRequest =
  | ChangeOfTracked
  /** `pushed`: its source branch has moved. `resolved`: all its discussions are. */
  | { readonly what: 'merged' | 'approved' | 'unapproved' | 'auto-merge' | 'pushed' | 'resolved' }
  /** Of `formerIds`: all who were asked for a review before. */
  | { readonly what: 'reviewers'; readonly formerIds: readonly number[] };

/** An event to notify about. Contains IDs only: the worker reads the current records. */
export type DomainEvent =
  | { readonly kind: 'note'; readonly projectId: number; readonly commit: string; readonly noteId: number }
  | {
      readonly kind: 'issue-note';
      readonly projectId: number;
      readonly iid: number;
      readonly noteId: number;
    }
  | {
      readonly kind: 'issue';
      readonly projectId: number;
      readonly iid: number;
      /** Each is a notification of its own. */
      readonly changes: readonly ChangeOfIssue[];
    }
  | {
      readonly kind: 'merge-request-note';
      readonly projectId: number;
      readonly iid: number;
      readonly noteId: number;
    }
  | {
      readonly kind: 'merge-request';
      readonly projectId: number;
      readonly iid: number;
      /** Each is a notification of its own. */
      readonly changes: readonly ChangeOfMergeRequest[];
    }
  | {
      readonly kind: 'snippet-note';
      readonly projectId: number;
      readonly snippetId: number;
      readonly noteId: number;
    }
  | {
      readonly kind: 'pipeline';
      readonly projectId: number;
      readonly sha: string;
      readonly pipelineId: number;
      readonly outcome: PipelineOutcome;
      /** Previous outcome of the same pipeline. */
      readonly before: PipelineOutcome | null;
    }
  | { readonly kind: 'release'; readonly projectId: number; readonly tag: string }
  | {
      readonly kind: 'alert';
      readonly projectId: number;
      readonly iid: number;
      readonly what: 'triggered' | 'resolved';
    }
  | {
      readonly kind: 'epic';
      readonly groupId: number;
      readonly epicId: number;
      /** Absent: it is new. */
      readonly what?: 'closed' | 'reopened';
    }
  | {
      readonly kind: 'epic-note';
      readonly groupId: number;
      readonly epicId: number;
      readonly noteId: number;
    }
  | {
      readonly kind: 'moved';
      readonly projectId: number;
      /** Its full path and the IDs of its groups before the move. */
      readonly from: string;
      readonly fromIds?: readonly number[];
    }
  | {
      readonly kind: 'membership';
      readonly source: MemberSource;
      readonly userId: number;
      readonly what: 'granted' | 'changed' | 'denied';
    }
  /** The answer to an invitation, for the inviter. */
  | {
      readonly kind: 'invitation';
      readonly source: MemberSource;
      readonly email: string;
      readonly inviterId: number;
      /** The user who accepted; null when it was declined. */
      readonly userId: number | null;
    };

/** The position in the audience of one event where a later job continues. */
interface Position {
  readonly stage: string;
  /** The last user ID that was processed. */
  readonly after: number;
}

export interface Notification {
  /** The same in all jobs about one event. */
  readonly id?: string;
  readonly actorId: number | null;
  /** Base URL of links. */
  readonly baseUrl: string;
  readonly happening: DomainEvent;
  readonly position?: Position;
}

export const NOTIFY_JOB = 'notification.send';

export const notificationMessage = (notification: Notification): OutboxMessage =>
  message(MAINTENANCE, NOTIFY_JOB, { ...notification });

/** Notifies a user about their own membership. */
export const membershipMail = (
  deps: Deps,
  actor: Actor,
  { source, userId }: Pick<MemberRecord, 'source' | 'userId'>,
  what: Extract<DomainEvent, { kind: 'membership' }>['what'],
): OutboxMessage => enqueueNotification(deps, actor, { kind: 'membership', source, userId, what });

/** As `membershipMail`, for a new membership without an actor. */
export const newMembershipMail = (
  { source, userId }: Pick<MemberRecord, 'source' | 'userId'>,
  baseUrl: string,
): OutboxMessage =>
  notificationMessage({
    actorId: null,
    baseUrl,
    happening: { kind: 'membership', source, userId, what: 'granted' },
  });

/** Mails about the answer to an invitation, to the inviter and to the new member. @param userId null when it was declined */
export function answerMails(
  { environment }: Deps,
  { source, email, createdById: inviterId, ...invitation }: InvitationRecord,
  userId: number | null,
): OutboxMessage[] {
  const baseUrl = invitation.baseUrl ?? environment.baseUrl ?? '';
  const happening = { kind: 'invitation', source, email, inviterId, userId } as const;
  return [
    ...(userId === null ? [] : [newMembershipMail({ source, userId }, baseUrl)]),
    ...(userId === inviterId ? [] : [notificationMessage({ actorId: userId, baseUrl, happening })]),
  ];
}

/** Notifies about the move of a project. @param project the record before the move */
export const movedProjectMail = (deps: Deps, actor: Actor, project: ProjectRecord): OutboxMessage =>
  enqueueNotification(deps, actor, moveOf(project));

/** Who moves the namespace of projects. Plain data, for the job that moves the projects. */
export interface Mover {
  readonly actorId: number | null;
  readonly baseUrl: string;
}

export const moverOf = (deps: Deps, actor: Actor): Mover => ({
  actorId: actor.kind === 'user' ? actor.user.id : null,
  baseUrl: actor.origin?.baseUrl ?? deps.environment.baseUrl ?? '',
});

/** As `movedProjectMail`, for each project that moves with its namespace. @param mover absent in messages of earlier releases: no mail is sent */
export const movedProjectMails =
  (mover: Mover | undefined) =>
  (project: ProjectRecord): OutboxMessage | undefined =>
    mover && notificationMessage({ ...mover, happening: moveOf(project) });

const moveOf = ({ id, fullPath, ancestorIds }: ProjectRecord): DomainEvent => ({
  kind: 'moved',
  projectId: id,
  from: fullPath,
  fromIds: ancestorIds,
});

/** Returns a message for `outbox.commit`, or for a transaction that is followed by `outbox.deliver`. */
export const enqueueNotification = (deps: Deps, actor: Actor, happening: DomainEvent): OutboxMessage =>
  notificationMessage({ ...moverOf(deps, actor), happening });
