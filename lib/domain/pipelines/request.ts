/** What a pipeline is made from: what somebody asks for, and the commit that it is of. */

import type { IncludeContext } from '../../ci/include.ts';
import type { CommitRecord, GitRepository } from '../../git/repository.ts';
import type { PipelineParent, PipelineSource, PipelineVariable } from '../../records/pipelines.ts';
import type { MergeRequestFacts } from '../ci-variables/predefined.ts';

/** What is asked for. */
export interface PipelineRequest {
  /** Branch or tag, by its short or its full name; `refs/merge-requests/<iid>/head`. */
  readonly ref: string;
  /** The commit; by default, what the ref points to. */
  readonly sha?: string | undefined;
  readonly source: PipelineSource;
  readonly variables?: readonly PipelineVariable[] | undefined;
  /** What was sent to ask for it, for a file that jobs get. */
  readonly payload?: string | undefined;
  /** Where the branch was before. */
  readonly beforeSha?: string | undefined;
  readonly mergeRequest?: MergeRequestFacts | undefined;
  readonly parent?: PipelineParent | undefined;
  /** The configuration; by default, the file of the commit. */
  readonly config?: string | undefined;
  /** Where files come from that jobs of the pipeline left that starts it. */
  readonly artifact?: IncludeContext['artifact'];
  /** Variables that are for conditions and jobs alone, such as those of a bridge. */
  readonly inherited?: Readonly<Record<string, string>> | undefined;
  /** The message that asks for it. */
  readonly madeBy?: string | undefined;
  /** No jobs, but a pipeline that says so. */
  readonly skip?: boolean | undefined;
  /** Whether one with a wrong configuration is kept, as failed, and one that the configuration does not want is none. */
  readonly automatic?: boolean | undefined;
}

/** The commit of a pipeline, and where it is. */
export interface Place {
  readonly git: GitRepository;
  readonly commit: CommitRecord;
  /** Short name of the branch or tag, or the full name of another ref. */
  readonly ref: string;
  readonly isTag: boolean;
  readonly protected: boolean;
}
