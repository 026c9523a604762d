/** Texts to begin a project with: licences, ignore files, Dockerfiles, pipelines. */

import type { Actor } from '../../domain/actor.ts';
import { notFound } from '../../domain/errors.ts';
import {
  DESCRIPTION_TEMPLATES,
  type DescriptionTemplateKind,
  descriptionTemplate,
  descriptionTemplates,
} from '../../domain/templates/descriptions.ts';
import { type FileTemplateKind, fileTemplates } from '../../domain/templates/files.ts';
import { type LicenseTemplate, licenseTemplates, licenseText } from '../../domain/templates/licenses.ts';
import { anyone, project } from '../../http/access.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import * as p from '../../http/params.ts';
import { type ApiDeps, type counted, endpoint } from '../endpoint.ts';
import * as shapes from './shapes.ts';

const MAX_TEXT = 255;

const licenseFields = () => ({
  project: p.string({ maxLength: MAX_TEXT, description: 'Name of the project, for the text of a licence' }),
  fullname: p.string({
    maxLength: MAX_TEXT,
    description: 'Name of the copyright holder, for the text of a licence; default: the name of the caller',
  }),
});

const shownLicense = ({ key, content, ...license }: LicenseTemplate, text = content) => ({
  key,
  ...license,
  html_url: `https://choosealicense.com/licenses/${key}/`,
  source_url: null,
  content: text,
});

/** A licence with its placeholders filled in. @throws 404 */
async function filledLicense(
  deps: Pick<ApiDeps, 'now'>,
  actor: Actor,
  key: string,
  facts: { readonly project?: string; readonly fullname?: string },
) {
  const license = (await licenseTemplates()).find((each) => each.key === key.toLowerCase());
  if (license === undefined) throw notFound('License');
  const holder = facts.fullname || (actor.kind === 'user' ? actor.user.name : undefined);
  const year = deps.now().getUTCFullYear();
  return shownLicense(license, licenseText(license, { year, holder, project: facts.project }));
}

async function fileNamed(kind: FileTemplateKind, name: string) {
  const found = (await fileTemplates(kind)).find((each) => each.name.toLowerCase() === name.toLowerCase());
  if (found === undefined) throw notFound('Template');
  return found;
}

const listedFiles = async (kind: FileTemplateKind) =>
  (await fileTemplates(kind)).map(({ name }) => ({ key: name, name }));

/** One page of a short list. */
function paged<T>(items: readonly T[], page: Parameters<typeof counted>[0] & { readonly offset: number }) {
  return { items: items.slice(page.offset, page.offset + page.perPage), total: items.length };
}

const unknown = [{ status: 404, description: 'There is no such template' }];

const licenses = endpoint({
  method: 'GET',
  path: '/templates/licenses',
  area: 'meta',
  summary: 'List licence templates',
  access: anyone(),
  query: () =>
    p.params({ popular: p.boolean({ default: false, description: 'Return only popular licences' }) }),
  returns: { body: shapes.licenses },
  paginate: 'offset',
  handle: async ({ query, page }) => {
    const all = await licenseTemplates();
    return paged(
      all.filter(({ popular }) => popular || !query.popular).map((license) => shownLicense(license)),
      page,
    );
  },
});

const oneLicense = endpoint({
  method: 'GET',
  path: '/templates/licenses/:key',
  area: 'meta',
  summary: 'Get a licence template',
  access: anyone(),
  params: () =>
    p.params({ key: p.string({ required: true, description: 'SPDX identifier, ignoring case' }) }),
  query: () => p.params(licenseFields()),
  returns: { body: shapes.licenseShown },
  errors: unknown,
  handle: ({ actor, params, query }, deps) => filledLicense(deps, actor, params.key, query),
});

const FILE_KINDS: Readonly<Record<FileTemplateKind, string>> = {
  gitignores: '.gitignore',
  dockerfiles: 'Dockerfile',
  gitlab_ci_ymls: 'CI configuration',
  ci_ymls: 'CI configuration',
};

const ofFiles = (kind: FileTemplateKind, noun: string): Endpoint<ApiDeps>[] => [
  endpoint({
    method: 'GET',
    path: `/templates/${kind}`,
    area: 'meta',
    summary: `List ${noun} templates`,
    access: anyone(),
    returns: { body: shapes.listed },
    paginate: 'offset',
    handle: async ({ page }) => paged(await listedFiles(kind), page),
  }),
  endpoint({
    method: 'GET',
    path: `/templates/${kind}/:key`,
    area: 'meta',
    summary: `Get a ${noun} template`,
    access: anyone(),
    params: () =>
      p.params({ key: p.string({ required: true, description: 'Name of the template, ignoring case' }) }),
    returns: { body: shapes.fileShown },
    errors: unknown,
    handle: ({ params }) => fileNamed(kind, params.key),
  }),
];

/** Of all areas that serve templates, those of the instance. */
export const templateEndpoints: readonly Endpoint<ApiDeps>[] = [
  licenses,
  oneLicense,
  ...(Object.keys(FILE_KINDS) as FileTemplateKind[]).flatMap((kind) => ofFiles(kind, FILE_KINDS[kind])),
];

const TYPES = [
  'licenses',
  ...(Object.keys(FILE_KINDS) as FileTemplateKind[]),
  ...(Object.keys(DESCRIPTION_TEMPLATES) as DescriptionTemplateKind[]),
] as const;
const isOfDescriptions = (type: (typeof TYPES)[number]): type is DescriptionTemplateKind =>
  type in DESCRIPTION_TEMPLATES;

const typeField = () => p.oneOf(TYPES, { required: true, description: 'Kind of the templates' });

/** The templates that a project may use: all of the instance, and those of descriptions in its repository. */
export const projectTemplateEndpoints: readonly Endpoint<ApiDeps>[] = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/templates/:type',
    area: 'projects',
    summary: 'List templates of one kind for a project',
    description:
      'Those of `issues` and `merge_requests` are the Markdown files in `.gitlab/issue_templates` and `.gitlab/merge_request_templates` of the default branch, for callers who may read code.',
    access: project('read_project', { anonymous: true }),
    params: () => p.params({ type: typeField() }),
    returns: { body: shapes.listed },
    paginate: 'offset',
    handle: async ({ actor, project, params: { type }, page }, deps) => {
      if (isOfDescriptions(type)) {
        const names = await descriptionTemplates(deps, actor, project, type);
        return paged(
          names.map((name) => ({ key: name, name })),
          page,
        );
      }
      return paged(
        type === 'licenses'
          ? (await licenseTemplates()).map(({ key, name }) => ({ key, name }))
          : await listedFiles(type),
        page,
      );
    },
  }),
  endpoint({
    method: 'GET',
    path: '/projects/:id/templates/:type/:name',
    area: 'projects',
    summary: 'Get a template for a project',
    access: project('read_project', { anonymous: true }),
    params: () =>
      p.params({
        type: typeField(),
        name: p.string({ required: true, description: 'Key of the template, ignoring case' }),
      }),
    query: () => p.params(licenseFields()),
    returns: { body: shapes.anyShown },
    errors: unknown,
    handle: ({ actor, project, params: { type, name }, query }, deps) => {
      if (isOfDescriptions(type)) return descriptionTemplate(deps, actor, project, type, name);
      return type === 'licenses' ? filledLicense(deps, actor, name, query) : fileNamed(type, name);
    },
  }),
];
