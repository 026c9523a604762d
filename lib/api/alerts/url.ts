/** A name in an address: `My tool` is `my-tool`. */
const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 63) || 'http-endpoint';

/** Where the tool of an integration sends its alerts to. */
export const alertUrl = (
  { type, name, endpoint }: { readonly type: string; readonly name: string; readonly endpoint: string },
  projectUrl: string,
): string =>
  type === 'prometheus'
    ? `${projectUrl}/prometheus/alerts/notify.json`
    : `${projectUrl}/alerts/notify/${slugOf(name)}/${endpoint}.json`;
