import { blobConformance } from './blobs-conformance.ts';
import { startS3 } from './s3-fixture.ts';

blobConformance('the embedded S3', startS3);
