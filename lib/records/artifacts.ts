/** Kinds of files that jobs leave. */

export const ARTIFACT_FORMATS = ['zip', 'gzip', 'raw'] as const;
export type ArtifactFormat = (typeof ARTIFACT_FORMATS)[number];

/** The format in which runners send each type of file. */
export const FORMAT_OF_TYPE = {
  archive: 'zip',
  metadata: 'gzip',
  junit: 'gzip',
  sast: 'raw',
  dependency_scanning: 'raw',
  container_scanning: 'raw',
  dast: 'raw',
  codequality: 'raw',
  license_scanning: 'raw',
  performance: 'raw',
  metrics: 'gzip',
  metrics_referee: 'gzip',
  network_referee: 'gzip',
  lsif: 'zip',
  dotenv: 'gzip',
  cobertura: 'gzip',
  terraform: 'raw',
  accessibility: 'raw',
  cluster_applications: 'gzip',
  secret_detection: 'raw',
  requirements: 'raw',
  coverage_fuzzing: 'raw',
  api_fuzzing: 'raw',
  browser_performance: 'raw',
  load_performance: 'raw',
  cluster_image_scanning: 'raw',
} as const satisfies Readonly<Record<string, ArtifactFormat>>;

export type ArtifactType = keyof typeof FORMAT_OF_TYPE;
export const ARTIFACT_TYPES = Object.keys(FORMAT_OF_TYPE) as readonly ArtifactType[];

/** A file that a job left. */
export interface JobArtifact {
  readonly type: string;
  readonly format: ArtifactFormat;
  readonly filename: string;
  readonly size: number;
  /** Key of its object in the bucket. */
  readonly blob: string;
  /** Digest of its content, hexadecimal; absent of one that went straight to the bucket. */
  readonly sha256?: string;
}

/** The archive among the files that a job has left. */
export const archiveOf = ({
  artifacts,
}: {
  readonly artifacts: readonly JobArtifact[];
}): JobArtifact | undefined => artifacts.find(({ type }) => type === 'archive');
