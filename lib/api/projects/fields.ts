import * as p from '../../http/params.ts';
import { avatarField } from '../avatars/avatar-field.ts';
import { settingFields, switchFields } from './settings.ts';

/** What creation and update take alike. */
export const sharedFields = () => ({
  path: p.string({ description: 'Last part of the URL; made from the name of a new project when absent' }),
  description: p.string({ nullable: true }),
  default_branch: p.string({ description: 'What HEAD points to; of a new project, before the first push' }),
  topics: p.list(p.string({ maxLength: 255 })),
  tag_list: p.list(p.string({ maxLength: 255 }), { description: 'Deprecated: use `topics`' }),
  import_url: p.string({
    description: 'Of a Git repository that a new project begins with; credentials in it are not kept',
  }),
  avatar: avatarField(),
  ...settingFields(),
  ...switchFields(),
});

/** @returns undefined when none were given */
export const topicsOf = (body: {
  readonly topics?: readonly string[];
  readonly tag_list?: readonly string[];
}): string[] | undefined =>
  (body.topics ?? body.tag_list)?.map((topic) => topic.trim()).filter((topic) => topic !== '');
