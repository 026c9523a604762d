/** Whether a project collects errors of its programs. */
export interface ErrorTrackingSettings {
  readonly projectId: number;
  readonly active: boolean;
  /** Whether this service collects them; false: another one, which is not called. */
  readonly integrated: boolean;
  readonly version: number;
}

/** A key with which programs send errors of a project. It is no secret: programs that everybody has contain it. */
export interface ClientKey {
  readonly id: number;
  readonly projectId: number;
  readonly active: boolean;
  /** `glet_` and 32 hexadecimal digits. */
  readonly publicKey: string;
  readonly createdAt: string;
}

export const ERROR_STATUSES = ['unresolved', 'resolved', 'ignored'] as const;
export type ErrorStatus = (typeof ERROR_STATUSES)[number];

/** Errors that are one: of the same name, from the same place. */
export interface TrackedError {
  readonly id: number;
  readonly projectId: number;
  /** Digest of what makes them one. */
  readonly fingerprint: string;
  readonly name: string;
  readonly description: string | null;
  /** Where it happened: a route, or a function. */
  readonly actor: string | null;
  readonly platform: string | null;
  readonly level: string | null;
  readonly status: ErrorStatus;
  /** How often it happened. */
  readonly count: number;
  readonly firstSeenAt: string;
  readonly lastSeenAt: string;
}

/** One occurrence of an error. */
export interface ErrorEvent {
  /** In the order in which they came. */
  readonly id: string;
  readonly errorId: number;
  /** The program's own id of it: 32 hexadecimal digits. */
  readonly eventId: string;
  readonly description: string | null;
  readonly level: string | null;
  readonly environment: string | null;
  readonly occurredAt: string;
  /** What the program sent, as JSON: without its largest parts where it was long. */
  readonly payload: string;
}

/** An occurrence as a program sent it, before it is known which error it is of. */
export type SentError = Omit<ErrorEvent, 'id' | 'errorId'> &
  Pick<TrackedError, 'fingerprint' | 'name' | 'actor' | 'platform'>;
