/** Configures and starts the viewer on the page at `/api/docs`. Runs in the browser, as a module. */

const { document: address, note } = document.documentElement.dataset;
const url = new URL(address, location.href);

try {
  const answer = await fetch(url, { credentials: 'omit' });
  if (!answer.ok) throw new Error(`${url.pathname} answers ${answer.status}`);
  globalThis.Scalar.createApiReference('#viewer', {
    content: forViewer(await answer.json()),
    // What the viewer would load from, or send to, other hosts.
    agent: { disabled: true },
    mcp: { disabled: true },
    telemetry: false,
    withDefaultFonts: false,
    proxyUrl: '',
    hideClientButton: true,
    showDeveloperTools: 'never',
    // Tokens are kept in memory alone.
    persistAuth: false,
    authentication: { preferredSecurityScheme: 'token' },
    documentDownloadType: 'none',
    defaultOpenFirstTag: false,
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  });
  document.querySelector('#state').remove();
} catch (error) {
  document.querySelector('#state').textContent = `The endpoints cannot be shown: ${error}`;
}

/** The document as the viewer shows it best. Calls go to the origin of this page, whatever the service calls itself. */
function forViewer(given) {
  const { tokenParameter: _, ...securitySchemes } = given.components.securitySchemes;
  const paths = mapValues(given.paths, (methods) => mapValues(methods, operationForViewer));
  const description = [given.info.description, note].filter(Boolean).join('\n\n');
  return {
    ...given,
    info: { ...given.info, description },
    servers: [{ url: absolute('.') }],
    paths,
    components: { ...given.components, securitySchemes },
  };
}

function operationForViewer(operation) {
  const { security, servers, description } = operation;
  const scopes = [...new Set(security.flatMap((way) => Object.values(way).flat()))];
  const paragraphs = [
    description,
    scopes.length > 0 && `The token needs one of the scopes ${scopes.map((one) => `\`${one}\``).join(', ')}.`,
    security.some((way) => Object.keys(way).length === 0) && 'What is public is shown without a token too.',
  ];
  return {
    ...operation,
    description: paragraphs.filter(Boolean).join('\n\n'),
    security: waysOf(security),
    ...(servers && { servers: servers.map((server) => ({ url: absolute(server.url) })) }),
  };
}

/** Each way to show a token once; the document has it once for each scope. A token in a URL is not offered. */
function waysOf(security) {
  const names = new Set(security.flatMap((way) => Object.keys(way)));
  names.delete('tokenParameter');
  return [...names].map((name) => ({ [name]: [] }));
}

function absolute(relative) {
  return new URL(relative, url).href.replace(/\/$/, '');
}

function mapValues(object, change) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}
