/** What may stand in the record of a runner. */
import type { RunnerRecord } from '../../records/runners.ts';
import { type FieldProblems, invalid } from '../errors.ts';

const MAX_TAGS = 50;
/** Characters. */
const MAX_TEXT = 255;
const MAX_DESCRIPTION = 1024;
/** Seconds. */
const MIN_TIMEOUT = 600;
const MAX_TIMEOUT = 30 * 86_400;

/** Tags as they are stored: without spaces around them, blank ones and repetitions. */
export const tagsOf = (given: readonly string[]): string[] => [
  ...new Set(given.map((tag) => tag.trim()).filter((tag) => tag !== '')),
];

/** @throws 400 with problems by field */
export function requireValid({
  description,
  tags,
  runUntagged,
  maximumTimeout,
}: Pick<RunnerRecord, 'description' | 'tags' | 'runUntagged' | 'maximumTimeout'>): void {
  const tagProblems = [
    ...(tags.length === 0 && !runUntagged
      ? ['can not be empty when runner is not allowed to pick untagged jobs']
      : []),
    ...(tags.length > MAX_TAGS
      ? [`Too many tags specified. Please limit the number of tags to ${MAX_TAGS}`]
      : []),
    ...(tags.some((tag) => tag.length > MAX_TEXT)
      ? [`have a tag that is too long (maximum is ${MAX_TEXT} characters)`]
      : []),
  ];
  const timeoutProblem =
    maximumTimeout === null
      ? undefined
      : maximumTimeout < MIN_TIMEOUT
        ? 'needs to be at least 10 minutes'
        : maximumTimeout > MAX_TIMEOUT
          ? 'may not be more than a month'
          : undefined;
  const problems: FieldProblems = {
    ...(description.length > MAX_DESCRIPTION
      ? { description: [`is too long (maximum is ${MAX_DESCRIPTION} characters)`] }
      : {}),
    ...(tagProblems.length === 0 ? {} : { tags_list: tagProblems }),
    ...(timeoutProblem === undefined ? {} : { maximum_timeout: [timeoutProblem] }),
  };
  if (Object.keys(problems).length > 0) throw invalid(problems);
}
