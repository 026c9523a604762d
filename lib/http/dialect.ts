/**
 * Interfaces that stand beside the REST one and speak otherwise: other media types, failures of another shape. Their
 * endpoints are declared as all are, and rules raise the same errors.
 */
import type * as z from 'zod';
import { HttpFailure } from './errors.ts';
import { Reply } from './reply.ts';

export interface Dialect {
  /** Of every answer. */
  readonly type: string;
  /** Of request bodies; others are answered 415. */
  readonly takes: readonly string[];
  /**
   * The body of a failure.
   * @param detail a sentence for the caller
   * @param extra what the rule that was broken says beside it
   */
  readonly failure: (status: number, detail: string, extra: Readonly<Record<string, unknown>>) => object;
  readonly failureShape: () => z.ZodType;
}

/** @throws HttpFailure 415 for a body that the dialect does not read */
export function requireMediaType({ takes }: Dialect, request: Request): void {
  if (request.body === null) return;
  const type = (request.headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase();
  if (!takes.includes(type))
    throw new HttpFailure(415, { error: `Content-Type must be ${takes.join(' or ')}` });
}

/** The same answer as the dialect tells it. */
export function inDialect(dialect: Dialect, answer: Reply): Reply {
  const { status, headers, body } = answer;
  if (status < 400) {
    if (headers['Content-Type'] !== 'application/json') return answer;
    return new Reply(status, { ...headers, 'Content-Type': dialect.type }, body);
  }
  const { detail, extra } = toldBy(answer);
  const told = JSON.stringify(dialect.failure(status, detail, extra));
  return new Reply(status, { ...headers, 'Content-Type': dialect.type }, told);
}

/** What a failure's answer says. */
function toldBy({ body, headers }: Reply): { detail: string; extra: Readonly<Record<string, unknown>> } {
  const text = typeof body === 'string' ? body : '';
  if (headers['Content-Type'] !== 'application/json') return { detail: text, extra: {} };
  const { message, error, ...extra } = JSON.parse(text) as Record<string, unknown>;
  return { detail: sentence(message ?? error), extra };
}

/** Problems by field, or several sentences, as one. */
function sentence(told: unknown): string {
  if (typeof told !== 'object' || told === null) return String(told);
  if (Array.isArray(told)) return told.map(sentence).join('; ');
  return Object.entries(told)
    .map(([field, problems]) => `${field} ${[problems].flat().map(sentence).join(', ')}`)
    .join('; ');
}
