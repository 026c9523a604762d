import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  PutObjectCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Bucket, type Fixture, failure, openFixture } from './s3-fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture({ minPartSize: 10 });
});
afterAll(() => fixture[Symbol.asyncDispose]());

interface Address {
  Bucket: string;
  Key: string;
  UploadId: string;
}

async function begin(Key: string, more = {}, { client } = fixture): Promise<Address> {
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key, ...more }));
  return { Bucket, Key, UploadId: UploadId! };
}
const part = async (address: Address, PartNumber: number, Body: string, { client } = fixture) => {
  const { ETag } = await client.send(new UploadPartCommand({ ...address, PartNumber, Body }));
  return { PartNumber, ETag };
};
const complete = (address: Address, Parts: object[], { client } = fixture) =>
  client.send(new CompleteMultipartUploadCommand({ ...address, MultipartUpload: { Parts } }));
const read = async (Key: string, { client } = fixture) => {
  const { Body, ...object } = await client.send(new GetObjectCommand({ Bucket, Key }));
  return { text: await Body!.transformToString(), ...object };
};
const md5 = (data: string | Buffer) => createHash('md5').update(data).digest();

describe('a multipart upload', () => {
  it('becomes one object, in the order of part numbers', async () => {
    const address = await begin('joined', { ContentType: 'text/plain', Metadata: { a: 'b' } });
    const second = await part(address, 7, 'the second part');
    await part(address, 2, 'is replaced by the next');
    const first = await part(address, 2, 'the first part, ');
    const { ETag } = await complete(address, [first, second]);
    expect(await read('joined')).toMatchObject({
      text: 'the first part, the second part',
      ContentType: 'text/plain',
      Metadata: { a: 'b' },
      ETag,
    });
    const digests = Buffer.concat([md5('the first part, '), md5('the second part')]);
    expect(ETag).toBe(`"${md5(digests).toString('hex')}-2"`);
    expect(await failure(complete(address, [first, second]))).toEqual({ name: 'NoSuchUpload', status: 404 });
  });

  it('omits parts that are not listed', async () => {
    const address = await begin('some');
    const parts = [await part(address, 1, 'x'.repeat(10)), await part(address, 3, 'z')];
    await part(address, 2, 'y'.repeat(10));
    await complete(address, parts);
    expect((await read('some')).text).toBe(`${'x'.repeat(10)}z`);
  });

  it('is validated before its parts are joined', async () => {
    const address = await begin('checked');
    const one = await part(address, 1, 'x'.repeat(10));
    const two = await part(address, 2, 'short');
    const three = await part(address, 3, 'end');
    const refused = async (parts: object[]) => (await failure(complete(address, parts))).name;
    expect(await refused([two, one])).toBe('InvalidPartOrder');
    expect(await refused([one, one])).toBe('InvalidPartOrder');
    expect(await refused([{ ...one, ETag: two.ETag }])).toBe('InvalidPart');
    expect(await refused([one, { PartNumber: 9, ETag: two.ETag }])).toBe('InvalidPart');
    expect(await refused([one, two, three])).toBe('EntityTooSmall');
    expect(await refused([])).toBe('MalformedXML');
    await complete(address, [one, three]);
  });

  it('has checksums of checksums on request', async () => {
    const address = await begin('summed', { ChecksumAlgorithm: 'SHA256' });
    const parts = [];
    for (const [i, text] of ['first part', 'last'].entries()) {
      const PartNumber = i + 1;
      const command = new UploadPartCommand({
        ...address,
        PartNumber,
        Body: text,
        ChecksumAlgorithm: 'SHA256',
      });
      const { ETag, ChecksumSHA256 } = await fixture.client.send(command);
      parts.push({ PartNumber, ETag, ChecksumSHA256 });
    }
    const wrong = [{ ...parts[0], ChecksumSHA256: parts[1]!.ChecksumSHA256 }, parts[1]!];
    expect(await failure(complete(address, wrong))).toMatchObject({ name: 'InvalidPart' });
    const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest();
    const composite = sha256(Buffer.concat([sha256('first part'), sha256('last')])).toString('base64');
    expect(await complete(address, parts)).toMatchObject({
      ChecksumSHA256: `${composite}-2`,
      ChecksumType: 'COMPOSITE',
    });
    expect((await read('summed')).text).toBe('first partlast');
  });

  it('copies parts from other objects', async () => {
    await fixture.client.send(new PutObjectCommand({ Bucket, Key: 'from', Body: '0123456789abcdef' }));
    const address = await begin('assembled');
    const CopySource = `${Bucket}/from`;
    const copy = (PartNumber: number, CopySourceRange?: string) =>
      fixture.client.send(new UploadPartCopyCommand({ ...address, PartNumber, CopySource, CopySourceRange }));
    const one = await copy(1, 'bytes=4-15');
    const two = await copy(2);
    expect(await failure(copy(3, 'bytes=4-16'))).toMatchObject({ name: 'InvalidArgument' });
    await complete(address, [
      { PartNumber: 1, ETag: one.CopyPartResult!.ETag },
      { PartNumber: 2, ETag: two.CopyPartResult!.ETag },
    ]);
    expect((await read('assembled')).text).toBe('456789abcdef0123456789abcdef');
  });

  it('can be aborted', async () => {
    const address = await begin('aborted');
    await part(address, 1, 'x');
    await fixture.client.send(new AbortMultipartUploadCommand(address));
    expect(await failure(part(address, 2, 'x'))).toEqual({ name: 'NoSuchUpload', status: 404 });
    expect(await failure(read('aborted'))).toMatchObject({ name: 'NoSuchKey' });
    const stranger = { ...address, UploadId: '../../../objects' };
    expect(await failure(fixture.client.send(new AbortMultipartUploadCommand(stranger)))).toMatchObject({
      name: 'NoSuchUpload',
    });
  });

  it('is listed, with its parts, page by page', async () => {
    await using other = await openFixture();
    const b = await begin('b', {}, other);
    const a = await begin('a', {}, other);
    for (const number of [3, 1, 2]) await part(b, number, 'x'.repeat(number), other);
    const uploads = await other.client.send(new ListMultipartUploadsCommand({ Bucket }));
    expect(uploads.Uploads?.map(({ Key, UploadId }) => [Key, UploadId])).toEqual([
      ['a', a.UploadId],
      ['b', b.UploadId],
    ]);
    const first = await other.client.send(new ListMultipartUploadsCommand({ Bucket, MaxUploads: 1 }));
    const KeyMarker = first.NextKeyMarker;
    const UploadIdMarker = first.NextUploadIdMarker;
    const second = await other.client.send(
      new ListMultipartUploadsCommand({ Bucket, KeyMarker, UploadIdMarker }),
    );
    expect([first.IsTruncated, second.Uploads?.length, second.IsTruncated]).toEqual([true, 1, false]);

    const parts = await other.client.send(new ListPartsCommand({ ...b, MaxParts: 2 }));
    expect(parts.Parts?.map(({ PartNumber, Size }) => [PartNumber, Size])).toEqual([
      [1, 1],
      [2, 2],
    ]);
    expect(parts.NextPartNumberMarker).toBe('2');
    const rest = await other.client.send(new ListPartsCommand({ ...b, PartNumberMarker: '2' }));
    expect(rest.Parts?.map(({ PartNumber }) => PartNumber)).toEqual([3]);
  });

  it('survives a restart', async () => {
    const dir = await mkdtemp(join(tmpdir(), 's3-test-'));
    let address: Address;
    let one: object;
    {
      await using first = await openFixture({ dir });
      address = await begin('resumed', {}, first);
      one = await part(address, 1, 'before', first);
    }
    await using second = await openFixture({ dir, minPartSize: 1 });
    await complete(address, [one, await part(address, 2, ' and after', second)], second);
    expect((await read('resumed', second)).text).toBe('before and after');
    await rm(dir, { recursive: true });
  });
});
