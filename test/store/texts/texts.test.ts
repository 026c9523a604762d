import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { type EmbeddedS3, openS3 } from '@lemnos/embedded-aws/s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LongText } from '../../../lib/records/texts.ts';
import { Blobs } from '../../../lib/store/blobs/blobs.ts';
import { makeClients } from '../../../lib/store/clients.ts';
import { MAX_ROW_TEXT, TEXTS, Texts } from '../../../lib/store/texts/texts.ts';
import { config } from '../table/store-fixture.ts';

let embedded: EmbeddedS3;
let blobs: Blobs;
let texts: Texts;
beforeAll(async () => {
  embedded = await openS3();
  const s3 = { ...config, endpoint: 'http://s3.local', forcePathStyle: true };
  const clients = makeClients({ s3: { ...s3, requestHandler: embedded.requestHandler } });
  await clients.s3.send(new CreateBucketCommand({ Bucket: 'texts-of-a-test' }));
  blobs = new Blobs(clients.s3, 'texts-of-a-test');
  texts = new Texts(blobs);
});
afterAll(() => embedded.close());

const keys = async () => (await blobs.list(TEXTS)).keys;

test('a text of up to 32 KB stays in its row, a longer one lies in the bucket until it is dropped', async () => {
  const longest = 'é'.repeat(MAX_ROW_TEXT / 2);
  expect(await texts.keep(1, longest)).toBe(longest);
  expect(await keys()).toEqual([]);

  const kept = await texts.keep(1, `${longest}😀`);
  expect(kept).toEqual({ blob: (await keys())[0], bytes: MAX_ROW_TEXT + 4, beginning: 'é'.repeat(2000) });
  expect(await texts.read(kept)).toBe(`${longest}😀`);
  expect(await texts.readMany(['short', kept, ''])).toEqual(['short', `${longest}😀`, '']);

  await texts.drop(kept, 'short', null, undefined);
  expect(await keys()).toEqual([]);
});

test('the same text twice is two objects: dropping one leaves the other', async () => {
  const long = 'x'.repeat(MAX_ROW_TEXT + 1);
  const [one, two] = await Promise.all([1, 1].map((id) => texts.keep(id, long)));
  await texts.drop(one);
  expect(await texts.read(two!)).toBe(long);
  await texts.drop(two);
});

test('texts are removed with their project, and with no other', async () => {
  const long = 'x'.repeat(MAX_ROW_TEXT + 1);
  await texts.keep(1, long);
  const other = await texts.keep(11, long);
  expect(await texts.removeOf(1)).toBe(false);
  expect(await keys()).toEqual([(other as LongText).blob]);
});
