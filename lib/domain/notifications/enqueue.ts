/** What people are to hear of, as the transaction that brings it about promises it. */

import type { InvitationRecord } from '../../records/invitations.ts';
import type { MemberRecord, MemberSource } from '../../records/members.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { MAINTENANCE, message, type OutboxMessage } from '../../store/outbox/outbox.ts';
import type { PipelineOutcome } from '../../store/pipelines/pipelines.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';

/** What happened: ids alone, so that the worker sees what it is about as it is by then. */
export type DomainEvent =
  | { readonly kind: 'note'; readonly projectId: number; readonly commit: string; readonly noteId: number }
  | {
      readonly kind: 'pipeline';
      readonly projectId: number;
      readonly sha: string;
      readonly pipelineId: number;
      readonly outcome: PipelineOutcome;
      /** What the same pipeline came to before. */
      readonly before: PipelineOutcome | null;
    }
  | {
      readonly kind: 'moved';
      readonly projectId: number;
      /** Its full path before, and the groups it stood in. */
      readonly from: string;
      readonly fromIds?: readonly number[];
    }
  | {
      readonly kind: 'membership';
      readonly source: MemberSource;
      readonly userId: number;
      readonly what: 'granted' | 'changed' | 'denied';
    }
  /** What became of an invitation, for whoever made it. */
  | {
      readonly kind: 'invitation';
      readonly source: MemberSource;
      readonly email: string;
      readonly inviterId: number;
      /** Who took it; null: it was declined. */
      readonly userId: number | null;
    };

/** A place in the audience of one happening, from which a later job goes on. */
interface Position {
  readonly stage: string;
  /** The user id that was looked at last. */
  readonly after: number;
}

export interface Notification {
  /** The same in all jobs about one happening. */
  readonly id?: string;
  readonly actorId: number | null;
  /** What links begin with. */
  readonly baseUrl: string;
  readonly happening: DomainEvent;
  readonly position?: Position;
}

export const NOTIFY_JOB = 'notification.send';

export const notificationMessage = (notification: Notification): OutboxMessage =>
  message(MAINTENANCE, NOTIFY_JOB, { ...notification });

/** What somebody is told of their own membership. */
export const membershipMail = (
  deps: Deps,
  actor: Actor,
  { source, userId }: Pick<MemberRecord, 'source' | 'userId'>,
  what: Extract<DomainEvent, { kind: 'membership' }>['what'],
): OutboxMessage => enqueueNotification(deps, actor, { kind: 'membership', source, userId, what });

/** As `membershipMail`, of a membership that nobody gave at this moment. */
export const newMembershipMail = (
  { source, userId }: Pick<MemberRecord, 'source' | 'userId'>,
  baseUrl: string,
): OutboxMessage =>
  notificationMessage({
    actorId: null,
    baseUrl,
    happening: { kind: 'membership', source, userId, what: 'granted' },
  });

/** What came of an invitation, for who made it and for who took it. @param userId null: it was declined */
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

/** That a project is found elsewhere from now on. @param project as it was */
export const moveMail = (deps: Deps, actor: Actor, project: ProjectRecord): OutboxMessage =>
  enqueueNotification(deps, actor, moveOf(project));

/** Who moves what projects stand in: plain data, for the job that brings these along. */
export interface Mover {
  readonly actorId: number | null;
  readonly baseUrl: string;
}

export const moverOf = (deps: Deps, actor: Actor): Mover => ({
  actorId: actor.kind === 'user' ? actor.user.id : null,
  baseUrl: actor.origin?.baseUrl ?? deps.environment.baseUrl ?? '',
});

/** The same of each project that comes along. @param mover absent in messages of earlier releases: nobody is told */
export const moveMails =
  (mover: Mover | undefined) =>
  (project: ProjectRecord): OutboxMessage | undefined =>
    mover && notificationMessage({ ...mover, happening: moveOf(project) });

const moveOf = ({ id, fullPath, ancestorIds }: ProjectRecord): DomainEvent => ({
  kind: 'moved',
  projectId: id,
  from: fullPath,
  fromIds: ancestorIds,
});

/** For `outbox.commit`, or as a row of the transaction with a delivery after it. */
export const enqueueNotification = (deps: Deps, actor: Actor, happening: DomainEvent): OutboxMessage =>
  notificationMessage({ ...moverOf(deps, actor), happening });
