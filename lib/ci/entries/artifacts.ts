import { parseDuration } from '../duration.ts';
import { type Hash, isHash } from '../yaml/values.ts';
import {
  type Entry,
  fields,
  flag,
  isText,
  isTexts,
  oneOf,
  oneOrMany,
  type Problems,
  text,
  texts,
} from './problems.ts';

/** Kinds of reports that a job can have. */
const REPORTS: readonly string[] = [
  'junit',
  'codequality',
  'sast',
  'secret_detection',
  'dependency_scanning',
  'container_scanning',
  'cluster_image_scanning',
  'dast',
  'license_scanning',
  'load_performance',
  'performance',
  'browser_performance',
  'browser_performance_testing',
  'lsif',
  'dotenv',
  'terraform',
  'accessibility',
  'requirements',
  'coverage_fuzzing',
  'api_fuzzing',
  'cobertura',
  'coverage_report',
  'metrics',
  'cluster_applications',
];

export interface Artifacts {
  readonly name?: string;
  readonly untracked?: boolean;
  readonly paths?: readonly string[];
  readonly exclude?: readonly string[];
  readonly reports?: Hash;
  readonly when?: 'on_success' | 'on_failure' | 'always';
  readonly expire_in?: string;
  readonly expose_as?: string;
  readonly public?: boolean;
}

export interface Cache {
  readonly key?: string | { readonly files: readonly string[]; readonly prefix?: string };
  readonly paths?: readonly string[];
  readonly untracked?: boolean;
  readonly when?: 'on_success' | 'on_failure' | 'always';
  readonly policy?: 'pull-push' | 'push' | 'pull';
  readonly fallback_keys?: readonly string[];
}

const duration: Entry<string> = (value, path, problems) => {
  const given = typeof value === 'number' ? String(value) : value;
  return isText(given) && (given === 'never' || parseDuration(given) !== undefined)
    ? given
    : problems.add(path, 'config should be a duration');
};

const reports: Entry<Hash> = (value, path, problems) => {
  if (!isHash(value)) return problems.add(path, 'config should be a hash');
  if (!problems.keys(path, value, REPORTS)) return undefined;
  const found: [string, unknown][] = [];
  for (const [kind, given] of Object.entries(value)) {
    if (given === null) continue;
    // `coverage_report` names the format beside the path.
    const fit = kind === 'coverage_report' ? isHash(given) : isText(given) || isTexts(given);
    if (!fit) return problems.add(path, `${kind} should be an array of strings or a string`);
    found.push([kind, isText(given) ? [given] : given]);
  }
  return Object.fromEntries(found);
};

const exposeAs: Entry<string> = (value, path, problems) => {
  if (!isText(value)) return problems.add(path, 'expose as should be a string');
  if (value.length > 100) return problems.add(path, 'expose as is too long (maximum is 100 characters)');
  return /^[\w\s-]+$/.test(value)
    ? value
    : problems.add(path, "expose as can contain only letters, digits, '-', '_' and spaces");
};

const artifactFields = fields({
  name: text,
  untracked: flag,
  paths: texts,
  exclude: texts,
  reports,
  when: oneOf(['on_success', 'on_failure', 'always']),
  expire_in: duration,
  expose_as: exposeAs,
  public: flag,
});

export const artifacts: Entry<Artifacts> = (value, path, problems) => {
  const found = artifactFields(value, path, problems);
  if (found?.expose_as !== undefined && found.paths === undefined)
    return problems.add(path, "paths can't be blank");
  return found as Artifacts | undefined;
};

const cacheKey: Entry<NonNullable<Cache['key']>> = (value, path, problems: Problems) => {
  if (isText(value) || typeof value === 'number') return keyText(String(value), path, problems);
  if (!isHash(value)) return problems.add(path, 'should be a hash, a string or a symbol');
  if (!problems.keys(path, value, ['files', 'prefix'])) return undefined;
  const { files, prefix } = value;
  if (!isTexts(files) || files.length === 0 || files.length > 2)
    return problems.add(`${path}:files`, 'config should be an array of 1 or 2 strings');
  if (prefix !== undefined && !isText(prefix))
    return problems.add(`${path}:prefix`, 'config should be a string');
  return { files, ...(prefix === undefined ? {} : { prefix }) };
};

const keyText: Entry<string> = (value, path, problems) =>
  isText(value) && !/\/|%2f/i.test(value) && !/^(?:\.|%2e)+$/i.test(value)
    ? value
    : problems.add(path, 'config should be a string or symbol');

export const caches: Entry<readonly Cache[]> = (value, path, problems) => {
  const found = oneOrMany<Cache>(
    fields({
      key: cacheKey,
      paths: texts,
      untracked: flag,
      when: oneOf(['on_success', 'on_failure', 'always']),
      policy: oneOf(['pull-push', 'push', 'pull']),
      fallback_keys: texts,
    }) as Entry<Cache>,
  )(value, path, problems);
  if (found !== undefined && found.length > 4)
    return problems.add(path, 'config no more than 4 caches can be created');
  return found;
};
