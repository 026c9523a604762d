/** An endpoint as an operation that faults befall: what is sent, and how it is seen whether it was done. */
import type { Answer, CallOptions } from '../../harness/service.ts';
import type { Operation, Told, Work } from './driver.ts';
import type { Fixtures } from './fixtures.ts';

export interface Sent {
  readonly path: string;
  readonly json?: unknown;
  /** A form with files, or another body, instead of `json`. */
  readonly raw?: FormData | string;
  readonly token: string;
  /** Whether that is a token of another kind than users have. */
  readonly bearer?: true;
  readonly state: () => Promise<string>;
}

export function endpoint(name: string, subject: (fixtures: Fixtures) => Promise<Sent>): Operation {
  return {
    name,
    records: true,
    async prepare(fixtures): Promise<Work> {
      const { path, json, raw, token, bearer, state } = await subject(fixtures);
      const shown = bearer ? { headers: { Authorization: `Bearer ${token}` } } : { token };
      const options: CallOptions = {
        ...shown,
        ...(json === undefined ? {} : { json }),
        ...(raw === undefined ? {} : { raw }),
      };
      return {
        run: async () => toldBy(await fixtures.service.call(name.split(' ')[0]!, path, options)),
        state,
      };
    },
  };
}

/** What a caller may conclude from an answer: a correct request gets no error but the service's own. */
export function toldBy({ status, body }: Answer): Told {
  if (status < 300) return { kind: 'done' };
  const words = `${status} ${JSON.stringify(body)}`;
  if (status === 503 && (body?.message ?? body?.detail) === '503 Service Unavailable')
    return { kind: 'unavailable', words };
  return { kind: status < 500 ? 'refused' : 'wrong', words };
}

export const answered = ({ status, body }: Answer) => `${status} ${JSON.stringify(body)}`;
export const flip = (state: string) => (state === 'before' ? 'after' : state === 'after' ? 'before' : state);
export const after = <T>(value: T, before: T, then: T) =>
  value === before ? 'before' : value === then ? 'after' : String(value);
export const countOf = (list: readonly unknown[]) =>
  list.length === 0 ? 'before' : list.length === 1 ? 'after' : `${list.length} of it`;

export async function found({ service }: Fixtures, path: string, token: string): Promise<string> {
  const answer = await service.call('GET', path, { token });
  return answer.status === 404 ? 'before' : answer.status === 200 ? 'after' : answered(answer);
}

export async function counted(fixtures: Fixtures, path: string, token: string): Promise<string> {
  return countOf(await fixtures.done('GET', path, { token }));
}

/** Whether an hour is tracked on what is at a path. */
export async function tracked(fixtures: Fixtures, path: string, token: string) {
  const { time_estimate, total_time_spent } = await fixtures.done('GET', `${path}/time_stats`, { token });
  const seconds = time_estimate + total_time_spent;
  if (seconds !== 0 && seconds !== 3600) return `half: ${seconds}`;
  return seconds === 0 ? 'before' : 'after';
}
