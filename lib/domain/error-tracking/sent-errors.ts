/** What programs send about an error, in the form that Sentry's clients use. All of it comes from strangers. */

import { createHash, randomUUID } from 'node:crypto';
import type { SentError } from '../../records/error-tracking.ts';
import { badRequest } from '../errors.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Characters of what is kept of each. */
const MAX_NAME = 255;
const MAX_DESCRIPTION = 1_000;
const MAX_WORD = 100;
/** Parts of a fingerprint that are looked at. */
const MAX_PARTS = 20;
/** Bytes of what is kept of an event. */
const MAX_PAYLOAD = 24 * 1024;
/** Frames of a long stack trace that are kept: the innermost. */
const MAX_FRAMES = 30;
/** Exceptions that led to one another, of which one is looked for that has a stack trace. */
const MAX_CHAIN = 50;
/** How far ahead of ours the clock of a program may be. */
const MAX_AHEAD_MS = 60_000;

/** @throws 400 for an event that tells of nothing */
export function sentError(event: Fields, now: Date): SentError {
  const exception = exceptionIn(event);
  const message = messageIn(event);
  if (exception === undefined && message === undefined) throw unreadable();
  const [firstLine] = (message ?? '').split('\n', 1);
  const name =
    text(exception?.['type'], MAX_NAME) ?? text(firstLine, MAX_NAME) ?? text(exception?.['value'], MAX_NAME);
  const actor = text(event['transaction'], MAX_NAME) ?? actorOf(exception);
  const platform = text(event['platform'], MAX_WORD);
  return {
    eventId: eventIdIn(event),
    fingerprint: fingerprintOf(event, [name ?? '', actor ?? '', platform ?? '']),
    name: name ?? 'Error',
    description: text(exception?.['value'], MAX_DESCRIPTION) ?? text(message, MAX_DESCRIPTION) ?? null,
    actor: actor ?? null,
    platform: platform ?? null,
    level: text(event['level'], MAX_WORD) ?? null,
    environment: text(event['environment'], MAX_WORD) ?? null,
    occurredAt: timeOf(event['timestamp'], now).toISOString(),
    payload: keptPayload(event),
  };
}

/** The product's own words. */
export const unreadable = () => badRequest('Failed to parse sentry request');

/** The first exception with a stack trace, else the first. */
function exceptionIn(event: Fields): Fields | undefined {
  const given = event['exception'];
  const values = Array.isArray(given) ? given : isObject(given) ? given['values'] : undefined;
  const all = (Array.isArray(values) ? values.slice(0, MAX_CHAIN) : [given]).filter(isObject);
  return all.find((each) => isObject(each['stacktrace'])) ?? all[0];
}

function messageIn(event: Fields): string | undefined {
  const entry = isObject(event['logentry']) ? event['logentry'] : event['message'];
  const given = isObject(entry) ? (entry['formatted'] ?? entry['message']) : entry;
  return text(given, MAX_DESCRIPTION);
}

/** The function that threw it. */
function actorOf(exception: Fields | undefined): string | undefined {
  const trace = exception?.['stacktrace'];
  const frames = isObject(trace) ? trace['frames'] : undefined;
  const last: unknown = Array.isArray(frames) ? frames.at(-1) : undefined;
  if (!isObject(last)) return undefined;
  const place = text(last['module'], MAX_NAME) ?? text(last['filename'], MAX_NAME);
  const called = text(last['function'], MAX_NAME);
  if (called === undefined) return place;
  return text(place === undefined ? called : `${called}(${place})`, MAX_NAME);
}

/** Programs may say what makes errors one; `{{ default }}` in it stands for what does otherwise. */
function fingerprintOf(event: Fields, usual: readonly string[]): string {
  const given = event['fingerprint'];
  const parts = (Array.isArray(given) ? given.slice(0, MAX_PARTS) : []).flatMap((part: unknown) => {
    const word = text(part, MAX_NAME);
    return word === undefined ? [] : /^\{\{\s*default\s*\}\}$/.test(word) ? usual : [word];
  });
  return createHash('sha256')
    .update(JSON.stringify(parts.length === 0 ? usual : parts))
    .digest('hex');
}

function eventIdIn(event: Fields): string {
  const given = text(event['event_id'], 36)?.replaceAll('-', '').toLowerCase() ?? '';
  return /^[0-9a-f]{32}$/.test(given) ? given : randomUUID().replaceAll('-', '');
}

/** Seconds since 1970, or a text. A time that is none, or ahead of ours, is now. */
function timeOf(given: unknown, now: Date): Date {
  const ms =
    typeof given === 'number' ? given * 1000 : typeof given === 'string' ? Date.parse(given) : Number.NaN;
  const isTime = ms >= 0 && ms <= now.getTime() + MAX_AHEAD_MS;
  return isTime ? new Date(ms) : now;
}

/** As much of an event as there is room for: the exception, and the smallest of the other parts. */
function keptPayload(event: Fields): string {
  const all = Object.entries(event).map(([name, value]) => [name, JSON.stringify(value) ?? 'null'] as const);
  const weight = ([name, { length }]: readonly [string, string]) => (name === 'exception' ? -1 : length);
  const kept: string[] = [];
  let room = MAX_PAYLOAD;
  for (const [name, value] of all.sort((a, b) => weight(a) - weight(b))) {
    const size = (json: string) => Buffer.byteLength(json) + Buffer.byteLength(name) + 4;
    const fits = size(value) <= room;
    const json = fits || name !== 'exception' ? value : JSON.stringify(shortened(exceptionIn(event)));
    if (size(json) > room) continue;
    room -= size(json);
    kept.push(`${JSON.stringify(name)}:${json}`);
  }
  return `{${kept.join(',')}}`;
}

/** An exception with the innermost frames alone, without their code and variables. */
function shortened(exception: Fields | undefined): object {
  const trace = exception?.['stacktrace'];
  const frames = isObject(trace) && Array.isArray(trace['frames']) ? trace['frames'] : [];
  const short = (frame: unknown) =>
    isObject(frame)
      ? {
          filename: text(frame['filename'], MAX_NAME),
          function: text(frame['function'], MAX_WORD),
          module: text(frame['module'], MAX_WORD),
          lineno: typeof frame['lineno'] === 'number' ? frame['lineno'] : undefined,
          colno: typeof frame['colno'] === 'number' ? frame['colno'] : undefined,
        }
      : {};
  return {
    values: [
      {
        type: text(exception?.['type'], MAX_NAME),
        value: text(exception?.['value'], MAX_DESCRIPTION),
        stacktrace: { frames: frames.slice(-MAX_FRAMES).map(short) },
      },
    ],
  };
}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A text that is not blank, cut; a number is one too. */
function text(value: unknown, length: number): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return undefined;
  const cut = String(value).slice(0, length).trim();
  return cut === '' ? undefined : cut;
}
