/**
 * Calls the table in DynamoDB's JSON protocol. The SDK's client decides where a request goes, who signs it and what sends it;
 * its chain of middleware and schemas, which takes most of the time of a small request, is left out.
 */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { asBuffer } from '../../bytes/as-buffer.ts';
import { whole } from '../../bytes/whole.ts';
import type { WireItem } from './wire.ts';

/** As in the API. */
export type Operation =
  | 'BatchGetItem'
  | 'BatchWriteItem'
  | 'DeleteItem'
  | 'GetItem'
  | 'PutItem'
  | 'Query'
  | 'TransactWriteItems'
  | 'UpdateItem';

/** A write of a batch. */
export interface WriteRequest {
  readonly PutRequest: { readonly Item: WireItem };
}

/** The members of answers that the table reads; attributes are in their wire form. */
export interface Answer {
  readonly Item?: WireItem;
  readonly Items?: readonly WireItem[];
  readonly Attributes?: WireItem;
  readonly Count?: number;
  readonly LastEvaluatedKey?: WireItem;
  readonly Responses?: Readonly<Record<string, readonly WireItem[]>>;
  readonly UnprocessedItems?: Readonly<Record<string, readonly WriteRequest[]>>;
  readonly UnprocessedKeys?: Readonly<Record<string, { readonly Keys: readonly WireItem[] }>>;
}

type Config = DynamoDBClient['config'];

/** Where requests go, and what signs them. */
interface Destination {
  readonly endpoint: URL;
  readonly signer: Awaited<ReturnType<Config['signer']>>;
}

export class TableClient {
  readonly #config: Config;
  #destination: Promise<Destination> | undefined;

  constructor({ config }: Pick<DynamoDBClient, 'config'>) {
    this.#config = config;
  }

  /**
   * @param input the members of the request, with attributes in their wire form
   * @throws Error with the service's name of it, or of the transport
   */
  async call(operation: Operation, input: object): Promise<Answer> {
    const config = this.#config;
    this.#destination ??= destinationOf(config).catch((error: unknown) => {
      // The next call asks again.
      this.#destination = undefined;
      throw error;
    });
    const { endpoint, signer } = await this.#destination;
    const body = JSON.stringify(input);
    const request = {
      protocol: endpoint.protocol,
      hostname: endpoint.hostname,
      ...(endpoint.port !== '' && { port: Number(endpoint.port) }),
      method: 'POST',
      path: endpoint.pathname,
      query: {},
      headers: {
        host: endpoint.host,
        'content-type': 'application/x-amz-json-1.0',
        'content-length': String(Buffer.byteLength(body)),
        'x-amz-target': `DynamoDB_20120810.${operation}`,
      },
      body,
    };
    const signingDate = new Date(Date.now() + config.systemClockOffset);
    const signed = await signer.sign(request, { signingDate });
    const { response } = await config.requestHandler.handle(signed as never);
    const text = await textOf(response.body);
    if (response.statusCode < 300) return JSON.parse(text) as Answer;
    // A clock that is minutes off is refused until it is corrected. What stands between may send any text as a date.
    const date = Date.parse(response.headers['date'] ?? '');
    if (!Number.isNaN(date)) config.systemClockOffset = date - Date.now();
    throw failure(response.statusCode, text);
  }
}

/** As the SDK's client finds it: given in code, in the environment, or by its rules for the region. */
async function destinationOf(config: Config): Promise<Destination> {
  const region = await config.region();
  const scheme = { name: 'sigv4', signingName: 'dynamodb', signingRegion: region, properties: {} };
  const [signer, given, configured] = await Promise.all([
    config.signer(scheme),
    config.endpoint?.(),
    config.serviceConfiguredEndpoint?.(),
  ]);
  if (given !== undefined) {
    const { protocol, hostname, port, path } = given;
    return {
      endpoint: new URL(path, `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`),
      signer,
    };
  }
  const { url } = config.endpointProvider({
    Region: region,
    UseFIPS: await config.useFipsEndpoint(),
    UseDualStack: await config.useDualstackEndpoint(),
    ...(configured !== undefined && { Endpoint: configured }),
  });
  return { endpoint: url, signer };
}

const textOf = async (body: Uint8Array | AsyncIterable<Uint8Array>): Promise<string> =>
  (body instanceof Uint8Array ? asBuffer(body) : await whole(body)).toString();

/** The service's error under its own name, with what it tells besides: the item that is there, reasons of a transaction. */
function failure(httpStatusCode: number, text: string): Error {
  const { __type = '', message, Message, ...told } = membersOf(text);
  const error = new Error(String(message ?? Message ?? `HTTP ${httpStatusCode}`));
  const name = String(__type).split('#').at(-1) || 'UnknownError';
  return Object.assign(error, told, { name, $metadata: { httpStatusCode } });
}

/** What stands between may answer with something else than JSON, or than an object. */
function membersOf(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
}
