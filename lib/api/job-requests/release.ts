/** How a job makes the release of its configuration: its runner calls `release-cli`, as it does for the product. */

const FLAGS = ['name', 'description', 'tag_name', 'ref', 'released_at'];

/**
 * The command, in whose texts the shell replaces variables. Quotes in them are the shell's too, as in the rest of a script.
 * @param release as configured
 */
export function releaseCommand(release: Readonly<Record<string, unknown>>): string {
  const flags = FLAGS.flatMap((name) => {
    const value = release[name];
    return value === undefined || value === null
      ? []
      : [` --${name.replaceAll('_', '-')} "${String(value)}"`];
  });
  const { milestones, assets } = release as {
    readonly milestones?: readonly string[] | string;
    readonly assets?: { readonly links?: readonly Readonly<Record<string, unknown>>[] };
  };
  const titles = [milestones ?? []].flat().map((title) => ` --milestone "${title}"`);
  const links = (assets?.links ?? []).map((link) => ` --assets-link ${JSON.stringify(JSON.stringify(link))}`);
  return ['release-cli create', ...flags, ...titles, ...links].join('');
}
