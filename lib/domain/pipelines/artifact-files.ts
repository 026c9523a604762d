/** Files of configurations that jobs left, from which these start child pipelines. */

import { whole } from '../../bytes/whole.ts';
import { ConfigError } from '../../ci/errors.ts';
import { MAX_FILE_BYTES } from '../../ci/yaml/parse.ts';
import { archiveOf } from '../../records/artifacts.ts';
import type { JobRecord } from '../../records/pipelines.ts';
import { sourceOf } from '../artifacts/file.ts';
import { BadZip, contentOf, findEntry } from '../artifacts/zip.ts';
import type { Deps } from '../deps.ts';

const MAX_ARCHIVE_MB = 5;

/** Reads files that jobs of a pipeline left, each by the name of its job. What it returns throws ConfigError. */
export function filesLeftIn(deps: Deps, pipelineId: number) {
  let jobs: Promise<readonly JobRecord[]> | undefined;
  return async (name: string, path: string): Promise<string> => {
    // Read once, however many files are included.
    jobs ??= deps.store.jobs.all(pipelineId);
    const archive = (await jobs)
      .filter((job) => job.name === name && !job.retried)
      .map(archiveOf)
      .at(-1);
    if (archive === undefined)
      throw new ConfigError(`Job \`${name}\` not found in parent pipeline or does not have artifacts!`);
    if (archive.size > MAX_ARCHIVE_MB * 1024 ** 2)
      throw new ConfigError(`Artifacts archive for job \`${name}\` is too large: max ${MAX_ARCHIVE_MB} MB`);
    const source = sourceOf(deps, archive);
    try {
      const entry = await findEntry(source, path);
      if (entry === undefined)
        throw new ConfigError(`Path \`${path}\` does not exist inside the \`${name}\` artifacts archive!`);
      if (entry.size > MAX_FILE_BYTES)
        throw new ConfigError(`The file \`${path}\` is larger than ${MAX_FILE_BYTES} bytes`);
      return new TextDecoder().decode(await whole(contentOf(source, entry)));
    } catch (error) {
      if (!(error instanceof BadZip)) throw error;
      throw new ConfigError(`The artifacts archive of job \`${name}\` cannot be read`);
    }
  };
}
