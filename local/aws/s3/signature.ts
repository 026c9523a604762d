import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { S3Error } from './errors.ts';
import { parseQuery } from './message.ts';

export interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
}

/** A request as it was received, because that is what was signed. */
export interface SignedMessage {
  method: string;
  /** Path and query, encoded, with the prefix of the client's URL. */
  url: string;
  headers: Readonly<Record<string, string | undefined>>;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
const MAX_CLOCK_SKEW_MS = 15 * 60_000;
const MAX_EXPIRY_SECONDS = 7 * 24 * 3600;

/** The parts of a signature, from the header or the query. */
interface Claim {
  accessKeyId: string;
  /** `<date>/<region>/s3/aws4_request` */
  scope: string;
  /** `yyyymmddThhmmssZ` */
  timestamp: string;
  signedHeaders: string[];
  signature: string;
  payloadHash: string;
  /** Seconds; for a presigned URL only. */
  expires?: number;
}

/**
 * Verifies Signature Version 4, in the Authorization header or in the query of a presigned URL
 * ("Authenticating Requests (AWS Signature Version 4)" in the S3 API reference).
 *
 * @throws S3Error AccessDenied, InvalidAccessKeyId, SignatureDoesNotMatch, RequestTimeTooSkewed and the
 *   two codes for malformed signatures
 */
export function verifySignature(message: SignedMessage, credentials: Credentials, now: number): void {
  const queryAt = message.url.indexOf('?');
  const path = queryAt === -1 ? message.url : message.url.slice(0, queryAt);
  const query = parseQuery(queryAt === -1 ? '' : message.url.slice(queryAt));
  const claim = readClaim(message, new Map(query));

  if (claim.accessKeyId !== credentials.accessKeyId) {
    throw new S3Error(
      'InvalidAccessKeyId',
      'The AWS Access Key Id you provided does not exist in our records.',
      {
        AWSAccessKeyId: claim.accessKeyId,
      },
    );
  }
  checkTime(claim, now);
  checkSignedHeaders(message, claim);

  const canonical = [
    message.method,
    canonicalPath(path),
    query
      .filter(([name]) => name !== 'X-Amz-Signature')
      .map(([name, value]) => `${encodeStrictly(name)}=${encodeStrictly(value)}`)
      .sort()
      .join('&'),
    ...claim.signedHeaders.map(
      (name) => `${name}:${(message.headers[name] ?? '').trim().replace(/ +/g, ' ')}`,
    ),
    '',
    claim.signedHeaders.join(';'),
    claim.payloadHash,
  ].join('\n');
  const toSign = [
    ALGORITHM,
    claim.timestamp,
    claim.scope,
    createHash('sha256').update(canonical).digest('hex'),
  ].join('\n');
  const key = claim.scope
    .split('/')
    .reduce<string | Buffer>((secret, part) => hmac(secret, part), `AWS4${credentials.secretAccessKey}`);
  const expected = hmac(key, toSign);
  const given = Buffer.from(claim.signature, 'hex');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new S3Error(
      'SignatureDoesNotMatch',
      'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
      { AWSAccessKeyId: claim.accessKeyId, StringToSign: toSign, CanonicalRequest: canonical },
    );
  }
}

function readClaim({ headers }: SignedMessage, query: ReadonlyMap<string, string>): Claim {
  const authorization = headers['authorization'];
  if (authorization !== undefined) {
    const match =
      /^AWS4-HMAC-SHA256\s+Credential=([^/]+)\/([^,]+),\s*SignedHeaders=([^,]+),\s*Signature=([0-9a-f]{64})$/.exec(
        authorization.trim(),
      );
    const timestamp = headers['x-amz-date'];
    const payloadHash = headers['x-amz-content-sha256'];
    if (match === null || timestamp === undefined || !isScope(match[2]!, timestamp)) {
      throw new S3Error('AuthorizationHeaderMalformed', 'The authorization header is malformed.');
    }
    if (payloadHash === undefined) {
      throw new S3Error('InvalidRequest', 'Missing required header for this request: x-amz-content-sha256');
    }
    if (payloadHash.startsWith('STREAMING-AWS4')) {
      throw new S3Error('NotImplemented', 'Signed chunks are not implemented');
    }
    const [, accessKeyId, scope, signedHeaders, signature] = match as unknown as string[];
    return {
      accessKeyId: accessKeyId!,
      scope: scope!,
      timestamp,
      signedHeaders: signedHeaders!.split(';'),
      signature: signature!,
      payloadHash,
    };
  }
  if (!query.has('X-Amz-Signature') && !query.has('X-Amz-Algorithm'))
    throw new S3Error('AccessDenied', 'Access Denied');
  const credential = /^([^/]+)\/(.+)$/.exec(query.get('X-Amz-Credential') ?? '');
  const timestamp = query.get('X-Amz-Date') ?? '';
  const expires = Number(query.get('X-Amz-Expires'));
  const signedHeaders = query.get('X-Amz-SignedHeaders') ?? '';
  if (
    query.get('X-Amz-Algorithm') !== ALGORITHM ||
    credential === null ||
    !isScope(credential[2]!, timestamp) ||
    signedHeaders === '' ||
    !/^[0-9a-f]{64}$/.test(query.get('X-Amz-Signature') ?? '')
  ) {
    throw new S3Error(
      'AuthorizationQueryParametersError',
      'Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.',
    );
  }
  if (!Number.isInteger(expires) || expires < 1 || expires > MAX_EXPIRY_SECONDS) {
    throw new S3Error(
      'AuthorizationQueryParametersError',
      'X-Amz-Expires must be between 1 and 604800 seconds',
    );
  }
  return {
    accessKeyId: credential[1]!,
    scope: credential[2]!,
    timestamp,
    signedHeaders: signedHeaders.split(';'),
    signature: query.get('X-Amz-Signature')!,
    payloadHash: headers['x-amz-content-sha256'] ?? query.get('X-Amz-Content-Sha256') ?? 'UNSIGNED-PAYLOAD',
    expires,
  };
}

function isScope(scope: string, timestamp: string): boolean {
  return (
    /^\d{8}T\d{6}Z$/.test(timestamp) &&
    scope.startsWith(`${timestamp.slice(0, 8)}/`) &&
    /^\d{8}\/[^/]+\/s3\/aws4_request$/.test(scope)
  );
}

function checkTime({ timestamp, expires }: Claim, now: number): void {
  const signed = Date.parse(
    timestamp.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'),
  );
  const serverTime = new Date(now).toISOString();
  if (expires === undefined) {
    if (Math.abs(now - signed) <= MAX_CLOCK_SKEW_MS) return;
    throw new S3Error(
      'RequestTimeTooSkewed',
      'The difference between the request time and the current time is too large.',
      { RequestTime: timestamp, ServerTime: serverTime, MaxAllowedSkewMilliseconds: MAX_CLOCK_SKEW_MS },
    );
  }
  if (signed > now + MAX_CLOCK_SKEW_MS) throw new S3Error('AccessDenied', 'Request is not yet valid');
  if (now > signed + expires * 1000) {
    throw new S3Error('AccessDenied', 'Request has expired', {
      'X-Amz-Expires': expires,
      Expires: new Date(signed + expires * 1000).toISOString(),
      ServerTime: serverTime,
    });
  }
}

/** The headers that S3 acts on must be signed: otherwise the holder of a URL could add conditions or metadata. */
function checkSignedHeaders({ headers }: SignedMessage, claim: Claim): void {
  const unsigned = Object.keys(headers).filter(
    (name) =>
      (name === 'host' || (name.startsWith('x-amz-') && name !== 'x-amz-content-sha256')) &&
      !claim.signedHeaders.includes(name),
  );
  if (unsigned.length > 0) {
    throw new S3Error('AccessDenied', 'There were headers present in the request which were not signed', {
      HeadersNotSigned: unsigned.join(', '),
    });
  }
}

/** S3 encodes the path once; decoding it first normalizes characters that clients leave unescaped. */
function canonicalPath(path: string): string {
  try {
    return path
      .split('/')
      .map((segment) => encodeStrictly(decodeURIComponent(segment)))
      .join('/');
  } catch {
    throw new S3Error('InvalidURI', "Couldn't parse the specified URI.");
  }
}

const encodeStrictly = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
