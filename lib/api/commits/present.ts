import { isUtf8 } from 'node:buffer';
import { titleOf } from '../../git/commit-title.ts';
import type { FileDiff } from '../../git/diff/patch.ts';
import type { CommitRecord } from '../../git/repository.ts';
import { TextBudget } from '../../git/text-budget.ts';
import { parseTrailers } from '../../git/trailers.ts';
import { formatMode } from '../../git/tree/entry.ts';
import { decodePath } from '../../git/tree/path.ts';
import type { PipelineRecord } from '../../records/pipelines.ts';
import { gitTime } from '../git-time.ts';

const SHORT_ID_LENGTH = 8;

/** The fields that every commit has in responses. Trailers are parsed only on request; otherwise they are `{}`. */
export function commitBasic(record: CommitRecord, projectUrl: string, { trailers = false } = {}) {
  // Lists are cut when they are read, to what all commits of a page may take together.
  const commit = new TextBudget().commit(record);
  const id = commit.oid;
  const committed = gitTime(commit.committer);
  return {
    id,
    short_id: id.slice(0, SHORT_ID_LENGTH),
    created_at: committed,
    parent_ids: [...commit.parents],
    title: titleOf(commit.message),
    message: commit.message,
    author_name: commit.author.name,
    author_email: commit.author.email,
    authored_date: gitTime(commit.author),
    committer_name: commit.committer.name,
    committer_email: commit.committer.email,
    committed_date: committed,
    trailers: trailers ? trailersOf(commit.message) : {},
    web_url: `${projectUrl}/-/commit/${id}`,
  };
}

/** Trailers by key; the last value of a repeated key. */
const trailersOf = (message: string): Record<string, string> =>
  Object.fromEntries(parseTrailers(message).map(({ key, value }) => [key, value]));

export interface CommitStats {
  readonly additions: number;
  readonly deletions: number;
}

export const stats = ({ additions, deletions }: CommitStats) => ({
  additions,
  deletions,
  total: additions + deletions,
});

/** A commit as returned by the endpoints that get or create one. A commit that was just created has no pipeline. */
export function commitDetail(
  record: CommitRecord,
  projectUrl: string,
  projectId: number,
  lineStats?: CommitStats,
  lastPipeline?: PipelineRecord,
) {
  return {
    ...commitBasic(record, projectUrl),
    ...(lineStats === undefined ? {} : { stats: stats(lineStats) }),
    status: lastPipeline?.status ?? null,
    project_id: projectId,
    last_pipeline: lastPipeline === undefined ? null : pipelineBasic(lastPipeline, projectUrl),
  };
}

export function pipelineBasic(pipeline: PipelineRecord, projectUrl: string) {
  return {
    id: pipeline.id,
    iid: pipeline.iid,
    project_id: pipeline.projectId,
    sha: pipeline.sha,
    ref: pipeline.ref,
    status: pipeline.status,
    source: pipeline.source,
    created_at: pipeline.createdAt,
    updated_at: pipeline.updatedAt,
    web_url: `${projectUrl}/-/pipelines/${pipeline.id}`,
  };
}

/** The diff of one file. Text that is not valid UTF-8 is decoded as Latin-1, which has a character for every byte. */
export function fileDiff({ status, oldPath, newPath, oldMode, newMode, text }: FileDiff) {
  return {
    old_path: decodePath(oldPath),
    new_path: decodePath(newPath),
    a_mode: modeOf(oldMode),
    b_mode: modeOf(newMode),
    new_file: status === 'A',
    renamed_file: status === 'R',
    deleted_file: status === 'D',
    diff: text.toString(isUtf8(text) ? 'utf8' : 'latin1'),
  };
}

const modeOf = (mode: number): string => (mode === 0 ? '0' : formatMode(mode));
