/** What a page of a list costs. */
import type { OperationRecord } from '@lemnos/embedded-aws/dynamodb';
import { forgetEverything } from '../harness/aws-calls.ts';
import type { RoundTrips } from '../harness/round-trips.ts';
import type { Service } from '../harness/service.ts';

export interface Cost {
  readonly trips: number;
  /** Of the answers of the table. */
  readonly kilobytes: number;
  readonly units: number;
  readonly requests: number;
  /** Of the answer. */
  readonly rows: number;
  readonly total: string | null;
  readonly body: unknown;
}

/** Asks with an empty memory. @param json what is posted */
export async function costOf(
  service: Service,
  trips: RoundTrips,
  path: string,
  token: string,
  json?: object,
): Promise<Cost> {
  const operations: OperationRecord[] = [];
  forgetEverything();
  service.host.dynamo.onOperation = (record) => void operations.push(record);
  const {
    trips: taken,
    bytes,
    value,
  } = await trips.of(() =>
    json === undefined ? service.call('GET', path, { token }) : service.call('POST', path, { json }),
  );
  service.host.dynamo.onOperation = undefined;
  if (value.status > 204) throw new Error(`${path}: ${value.status} ${JSON.stringify(value.body)}`);
  return {
    trips: taken.length,
    kilobytes: Math.round(bytes.D / 1024),
    units: operations.reduce((n, { readUnits }) => n + readUnits, 0),
    requests: operations.length,
    rows: Array.isArray(value.body) ? value.body.length : 1,
    total: value.headers.get('x-total'),
    body: value.body,
  };
}

/** As the table in docs/performance.md. */
export function shownCosts(small: ReadonlyMap<string, Cost>, large: ReadonlyMap<string, Cost>): string {
  const told = ({ trips: n, kilobytes, requests, units, total, rows }: Cost) =>
    `${n} trips, ${requests} requests, ${kilobytes} KB, ${units} RU, ${rows} rows${total === null ? '' : `, of ${total}`}`;
  return [...small]
    .map(([name, cost]) => `| ${name} | ${told(cost)} | ${told(large.get(name)!)} |`)
    .join('\n');
}
