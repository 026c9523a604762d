import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { PACKAGE_STATUSES } from '../../records/packages.ts';
import { time } from '../users/shapes.ts';

const packageShape = shape(() =>
  z
    .object({
      id: z.int(),
      name: z.string(),
      version: z.string(),
      package_type: z.literal('generic'),
      status: z.enum(PACKAGE_STATUSES),
      _links: z.object({
        web_path: z.string(),
        delete_api_path: z.string().optional().describe('Only for callers who may delete the package'),
      }),
      created_at: time(),
      last_downloaded_at: z.null().describe('Downloads are not recorded'),
      tags: z.array(z.unknown()).describe('Always empty: generic packages have none'),
    })
    .meta({ id: 'Package' }),
);
export const packageWithVersions = shape(() =>
  packageShape()
    .extend({
      versions: z
        .array(z.object({ id: z.int(), version: z.string(), created_at: time(), tags: z.array(z.unknown()) }))
        .describe('Others of the name, a hundred at most, the oldest first'),
    })
    .meta({ id: 'PackageWithVersions' }),
);
export const packages = shape(() => z.array(packageShape()));

const packageFile = shape(() =>
  z
    .object({
      id: z.int(),
      package_id: z.int(),
      created_at: time(),
      file_name: z.string(),
      size: z.int().describe('Bytes'),
      file_md5: z.string(),
      file_sha1: z.string(),
      file_sha256: z.string(),
    })
    .meta({ id: 'PackageFile' }),
);
export const packageFiles = shape(() => z.array(packageFile()));

export const uploaded = shape(() =>
  z.union([
    z.object({ message: z.literal('201 Created') }),
    packageFile()
      .extend({
        updated_at: time(),
        file: z.object({ url: z.string().describe('Where it is downloaded from') }),
      })
      .meta({ id: 'UploadedPackageFile' }),
  ]),
);
