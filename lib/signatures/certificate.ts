import { X509Certificate } from 'node:crypto';
import { unarmored } from './armor.ts';
import { type DerValue, oidText, partsOf, readAll, readDer, TAG } from './der.ts';
import { MalformedSignature, wellFormed } from './malformed.ts';

/** The fields of a certificate. Its issuer is not verified. */
export interface Certificate {
  /** `CN=...,OU=...,O=...`, most specific part first (RFC 4514). */
  readonly subject: string;
  /** `AA:BB:...`; undefined when absent. */
  readonly subjectKeyId: string | undefined;
  readonly email: string | undefined;
  /** Decimal. */
  readonly serialNumber: string;
  readonly issuer: string;
  readonly issuerKeyId: string | undefined;
  readonly revocationListUrl: string | undefined;
}

/** Programs write different labels. */
export const CMS_LABELS: readonly string[] = ['SIGNED MESSAGE', 'PKCS7', 'CMS'];

/** The signer's certificate in a detached X.509 signature (RFC 5652 §5). */
export function signerCertificate(armored: string): Certificate | undefined {
  return wellFormed(() => {
    const { label, data } = unarmored(armored);
    if (!CMS_LABELS.includes(label)) throw new MalformedSignature('another kind of signature');
    const [type, content] = partsOf(readDer(data), TAG.sequence);
    if (oidText(type) !== '1.2.840.113549.1.7.2') throw new MalformedSignature('no signed data');
    const [signed] = partsOf(content, 0xa0);
    const parts = partsOf(signed, TAG.sequence);
    const certificates = parts.filter(({ tag }) => tag === 0xa0).flatMap(({ content }) => readAll(content));
    const signerInfos = parts.at(-1);
    const [signer, ...others] = partsOf(signerInfos, TAG.set);
    if (others.length > 0) throw new MalformedSignature('several signers');
    const [, named] = partsOf(signer, TAG.sequence);
    const found = certificates.slice(0, MAX_CERTIFICATES).find((one) => isNamed(one, named));
    if (found === undefined) throw new MalformedSignature('the certificate of its signer is not there');
    return read(found.whole);
  });
}

const MAX_CERTIFICATES = 20;

/** The fields of a certificate from its serial number on (RFC 5280 §4.1). */
function fieldsOf(certificate: DerValue): DerValue[] {
  const [tbs] = partsOf(certificate, TAG.sequence);
  const fields = partsOf(tbs, TAG.sequence);
  return fields[0]?.tag === 0xa0 ? fields.slice(1) : fields;
}

/** Whether a signer identifier (issuer and serial number, or key identifier) matches the certificate. */
function isNamed(certificate: DerValue, named: DerValue | undefined): boolean {
  const fields = wellFormed(() => fieldsOf(certificate));
  if (fields === undefined || named === undefined) return false;
  if (named.tag === 0x80)
    return extension(fields, SUBJECT_KEY_ID)?.subarray(2).equals(named.content) === true;
  const [issuer, serial] = partsOf(named, TAG.sequence);
  return (
    issuer !== undefined &&
    serial !== undefined &&
    fields[0]?.whole.equals(serial.whole) === true &&
    fields[2]?.whole.equals(issuer.whole) === true
  );
}

function read(der: Buffer): Certificate {
  let parsed: X509Certificate;
  try {
    parsed = new X509Certificate(der);
  } catch {
    throw new MalformedSignature('no certificate');
  }
  const fields = fieldsOf(readDer(der));
  const keyId = extension(fields, SUBJECT_KEY_ID);
  const authority = extension(fields, AUTHORITY_KEY_ID);
  const authorityId =
    authority && readAll(readDer(authority).content).find(({ tag }) => tag === 0x80)?.content;
  return {
    subject: oneLine(parsed.subject),
    subjectKeyId: keyId && colons(readDer(keyId).content),
    email: emailOf(parsed),
    serialNumber: BigInt(`0x${parsed.serialNumber}`).toString(),
    issuer: oneLine(parsed.issuer),
    issuerKeyId: authorityId && colons(authorityId),
    revocationListUrl: revocationList(extension(fields, REVOCATION_LISTS)),
  };
}

const SUBJECT_KEY_ID = '2.5.29.14';
const AUTHORITY_KEY_ID = '2.5.29.35';
const REVOCATION_LISTS = '2.5.29.31';

/** The content of an extension. */
function extension(fields: readonly DerValue[], oid: string): Buffer | undefined {
  const all = fields.find(({ tag }) => tag === 0xa3);
  if (all === undefined) return undefined;
  for (const one of partsOf(readDer(all.content), TAG.sequence)) {
    const parts = partsOf(one, TAG.sequence);
    const value = parts.at(-1);
    if (oidText(parts[0]) === oid && value?.tag === TAG.octetString) return value.content;
  }
  return undefined;
}

/** The first URL of a revocation list (§4.2.1.13): uniformResourceIdentifier within fullName. */
function revocationList(content: Buffer | undefined): string | undefined {
  const text = content?.toString('latin1');
  return text === undefined ? undefined : /https?:\/\/[\x21-\x7e]+/.exec(text)?.[0];
}

const colons = (bytes: Buffer): string =>
  bytes
    .toString('hex')
    .toUpperCase()
    .replace(/..(?=.)/g, '$&:');

/** Node returns the parts of a name as lines, least specific first. */
const oneLine = (name: string | undefined): string => (name ?? '').split('\n').reverse().join(',');

function emailOf(certificate: X509Certificate): string | undefined {
  const alternative = /(?:^|, )email:([^,\s"]+)/.exec(certificate.subjectAltName ?? '')?.[1];
  return alternative ?? /^emailAddress=(.+)$/m.exec(certificate.subject ?? '')?.[1];
}
