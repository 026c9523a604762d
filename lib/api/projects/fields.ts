import * as p from '../../http/params.ts';
import { avatarField } from '../avatars/avatar-field.ts';
import { settingFields, switchFields } from './settings.ts';

/** Parameters that creation and update have in common. */
export const sharedFields = () => ({
  path: p.string({
    description: 'Path of the project below its namespace; default for a new project: derived from the name',
  }),
  description: p.string({ nullable: true, description: 'Description of the project' }),
  default_branch: p.string({ description: 'Name of the default branch, which HEAD points to' }),
  topics: p.list(p.string({ maxLength: 255 }), { description: 'Topics of the project' }),
  tag_list: p.list(p.string({ maxLength: 255 }), { description: 'Deprecated: use `topics`' }),
  import_url: p.string({
    description: 'URL of a Git repository to import into a new project; credentials in it are not stored',
  }),
  avatar: avatarField(),
  ...settingFields(),
  ...switchFields(),
});

/** An empty name leaves the default branch as it is. */
export const defaultBranchOf = ({ default_branch: name }: { readonly default_branch?: string }) =>
  name === '' ? undefined : name;

/** @returns undefined when the request has no topics */
export const topicsOf = (body: {
  readonly topics?: readonly string[];
  readonly tag_list?: readonly string[];
}): string[] | undefined =>
  (body.topics ?? body.tag_list)?.map((topic) => topic.trim()).filter((topic) => topic !== '');
