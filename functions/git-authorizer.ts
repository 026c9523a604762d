import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { mayPass } from '../lib/api/git/authorize.ts';
import { deps } from './deps.ts';

/**
 * A REST API's proxy integration renames `WWW-Authenticate`, so a challenge can only leave through the gateway's
 * own UNAUTHORIZED answer: this decides who needs one. Everything else the Git function answers itself.
 */
export const handler = async (
  event: APIGatewayRequestAuthorizerEvent,
): Promise<APIGatewayAuthorizerResult> => {
  // The very word that makes the gateway answer 401.
  if (!(await mayPass(event, deps()))) throw new Error('Unauthorized');
  const Resource = event.methodArn;
  return {
    principalId: 'git',
    policyDocument: {
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Action: 'execute-api:Invoke', Resource }],
    },
  };
};
