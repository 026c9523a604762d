import { type IntegrationSlug, isShown, kindOf } from '../../domain/integrations/catalog.ts';
import type { Effective } from '../../domain/integrations/effective.ts';
import { INTEGRATION_SWITCHES } from '../../records/integrations.ts';

/** An integration as lists show it: without what it was given. */
export function listedIntegration({ integration, inherited }: Effective) {
  const { id, createdAt, updatedAt, active, off, properties } = integration;
  const slug = integration.slug as IntegrationSlug;
  const { title, parameters } = kindOf(slug);
  return {
    id,
    // Some have a name that they were given.
    title: 'title' in parameters && properties['title'] ? String(properties['title']) : title,
    slug,
    created_at: createdAt,
    updated_at: updatedAt,
    active,
    ...Object.fromEntries(INTEGRATION_SWITCHES.map((name) => [name, !off.includes(name)])),
    inherited,
  };
}

/** An integration with what it was given, never with secrets. */
export function shownIntegration(effective: Effective) {
  const { slug, properties, active } = effective.integration;
  const shown = Object.entries(kindOf(slug as IntegrationSlug).parameters).flatMap(([name, parameter]) =>
    isShown(name, parameter)
      ? [[name, properties[name] ?? (active ? (parameter.default ?? null) : null)] as const]
      : [],
  );
  return { ...listedIntegration(effective), properties: Object.fromEntries(shown) };
}
