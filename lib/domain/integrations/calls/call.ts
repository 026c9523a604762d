/**
 * How an integration calls its service, in two steps. When something has happened, what is to be told is prepared from the
 * payload of the event, without secrets, and waits as a delivery. When it is called, the request is made, with the secrets.
 */
import type { IntegrationValue } from '../../../records/integrations.ts';

/** Plain data that waits. */
export type Content = Readonly<Record<string, unknown>>;

// biome-ignore lint/suspicious/noExplicitAny: payloads of many shapes, made by this service.
export type EventBody = Readonly<Record<string, any>>;

/** Something that has happened. */
export interface Happening {
  /** `push_events`. */
  readonly trigger: string;
  /** `Push Hook`. */
  readonly event: string;
  /** What hooks are sent. */
  readonly body: EventBody;
  readonly values: Values;
  readonly serviceName: string;
  readonly baseUrl: string;
}

/** What the integration was given, and the defaults of what it was not. */
export type Values = Readonly<Record<string, IntegrationValue | undefined>>;

export interface Settings {
  readonly values: Values;
  readonly secrets: Readonly<Record<string, string | undefined>>;
  readonly serviceName: string;
  /** `Push Hook`. */
  readonly event: string;
}

export interface CallRequest {
  /** Default: POST. `LINES`: no HTTP, but the text as it is. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'LINES';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly anyCertificate?: boolean;
  /** Bytes of the answer that are read, if the next step needs more than usual. */
  readonly answerBytes?: number;
}

export interface CallsOf {
  /** What is to be told: a call for each. */
  prepare(happening: Happening): readonly Content[];
  request(content: Content, settings: Settings): CallRequest;
  /** What is to be told next, after this answer. */
  next?(content: Content, answer: string, settings: Pick<Settings, 'values'>): readonly Content[];
}

export const textOf = (value: IntegrationValue | undefined): string =>
  value === undefined || value === null ? '' : String(value);

export const json = (url: string, body: unknown, headers: Record<string, string> = {}): CallRequest => ({
  url,
  headers: { 'Content-Type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

/** An answer as JSON; undefined where it is none. */
export function parsed(answer: string): EventBody | undefined {
  try {
    return JSON.parse(answer) as EventBody;
  } catch {
    return undefined;
  }
}

export const basic = (username: string, password: string): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

/** A URL with a path below it: neither loses nor doubles a slash. */
export const under = (base: string, path: string): string =>
  `${base.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`;

export const query = (given: Readonly<Record<string, string>>): string =>
  new URLSearchParams(Object.entries(given).filter(([, value]) => value !== '')).toString();

/** Whether a certificate of any kind is good enough. */
export const anyCertificate = ({ enable_ssl_verification: verifies }: Values): boolean => verifies === false;

export const refName = (ref: unknown): string => String(ref ?? '').replace(/^refs\/(?:heads|tags)\//, '');
export const isNone = (oid: unknown): boolean => /^0+$/.test(String(oid ?? ''));

/** Commits of a push, the oldest first. */
export const commitsOf = ({ commits }: EventBody): readonly EventBody[] =>
  Array.isArray(commits) ? (commits as EventBody[]) : [];

/** Whether the branches of a list, separated by commas, have that of a push; a blank list is all of them. */
export function isListed(list: string, ref: unknown): boolean {
  const names = list.split(',').map((name) => name.trim());
  return list.trim() === '' || names.includes(refName(ref));
}
