/** Licence texts that can be added to a project. */

export interface LicenseTemplate {
  /** SPDX identifier in lower case. */
  readonly key: string;
  readonly name: string;
  readonly nickname: string | null;
  /** Shown before the others. */
  readonly popular: boolean;
  readonly description: string;
  readonly permissions: readonly string[];
  readonly conditions: readonly string[];
  readonly limitations: readonly string[];
  /** With placeholders for year, holder and project. */
  readonly content: string;
}

/** What takes the place of the placeholders; those without a value stay. */
export interface LicenseFacts {
  readonly year: number;
  readonly holder?: string | undefined;
  readonly project?: string | undefined;
}

const PLACEHOLDERS = {
  year: /[[<{](?:year|yyyy)[\]>}]/gi,
  holder: /[[<{](?:fullname|name of author|name of copyright owner)[\]>}]/gi,
  project: /[[<{](?:project|program|one line to give the program's name[^\]>}]*)[\]>}]/gi,
} as const;

/** All licences, by key. The texts are large, and read when they are first asked for. */
export async function licenseTemplates(): Promise<readonly LicenseTemplate[]> {
  return (await import('./licenses.json', { with: { type: 'json' } })).default;
}

/** The text of a licence, filled in. */
export function licenseText({ content }: LicenseTemplate, facts: LicenseFacts): string {
  let text = content;
  for (const name of ['year', 'holder', 'project'] as const) {
    const value = facts[name];
    if (value !== undefined && value !== '') text = text.replace(PLACEHOLDERS[name], () => String(value));
  }
  return text;
}
