import { invalid } from '../errors.ts';
import { MAX_ASSIGNEES, MAX_LABELS } from '../tracked/input.ts';

/** @returns the fields. @throws 400 by field for more labels or people than an object may have */
export function requireFewEnough<
  Fields extends {
    readonly labelIds?: readonly number[];
    readonly assigneeIds?: readonly number[];
    readonly reviewerIds?: readonly number[];
  },
>(fields: Fields): Fields {
  const { labelIds = [], assigneeIds = [], reviewerIds = [] } = fields;
  const require = (name: string, ids: readonly number[], maximum: number) => {
    if (ids.length > maximum) throw invalid({ [name]: [`are too many (maximum is ${maximum})`] });
  };
  require('labels', labelIds, MAX_LABELS);
  require('assignees', assigneeIds, MAX_ASSIGNEES);
  require('reviewers', reviewerIds, MAX_ASSIGNEES);
  return fields;
}
