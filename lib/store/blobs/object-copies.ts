/** Copies objects of any size within S3, also from one bucket to another, without reading them. */
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  type S3Client,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { mapLimit } from '../table/map-limit.ts';
import { type Blobs, copySource, translated } from './blobs.ts';

/** Larger objects are copied in parts: one call takes 5 GB at most (S3, `CopyObject`), and several at once are faster. */
const PART_BYTES = 512 * 1024 ** 2;
const CONCURRENT_PARTS = 8;

export class ObjectCopies {
  readonly #client: S3Client;
  readonly #blobs: Blobs;
  readonly #partBytes: number;

  constructor(client: S3Client, blobs: Blobs, partBytes = PART_BYTES) {
    this.#client = client;
    this.#blobs = blobs;
    this.#partBytes = partBytes;
  }

  /** @param size of the source, in bytes @throws Missing, StoreUnavailable */
  async copy(from: string, to: string, size: number): Promise<void> {
    const CopySource = copySource(this.#blobs.locate(from));
    const target = this.#blobs.locate(to);
    if (size <= this.#partBytes) {
      await translated(() => this.#client.send(new CopyObjectCommand({ ...target, CopySource })));
      return;
    }
    const { UploadId } = await translated(() => this.#client.send(new CreateMultipartUploadCommand(target)));
    try {
      const parts = new Array<{ ETag: string; PartNumber: number }>(Math.ceil(size / this.#partBytes));
      await mapLimit(CONCURRENT_PARTS, [...parts.keys()], async (index) => {
        const first = index * this.#partBytes;
        const last = Math.min(first + this.#partBytes, size) - 1;
        const part = {
          ...target,
          UploadId,
          PartNumber: index + 1,
          CopySource,
          CopySourceRange: `bytes=${first}-${last}`,
        };
        const answer = await translated(() => this.#client.send(new UploadPartCopyCommand(part)));
        parts[index] = { ETag: answer.CopyPartResult!.ETag!, PartNumber: part.PartNumber };
      });
      const done = new CompleteMultipartUploadCommand({
        ...target,
        UploadId,
        MultipartUpload: { Parts: parts },
      });
      await translated(() => this.#client.send(done));
    } catch (error) {
      // If this fails, the bucket's lifecycle rule for unfinished uploads deletes the parts.
      await this.#client.send(new AbortMultipartUploadCommand({ ...target, UploadId })).catch(() => {});
      throw error;
    }
  }
}
