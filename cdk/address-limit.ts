import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';

export interface AddressLimitProps {
  readonly instance: string;
  /** Requests that one address may make in five minutes. */
  readonly requests: number;
  /** ARN of the gateway's stage. A domain of one's own leads to the same stage. */
  readonly stageArn: string;
}

/**
 * Has AWS WAF refuse addresses that ask too often, before the gateway calls, and pays for, anything. The gateway answers
 * `WAF_FILTERED` for it (`gateway-responses.ts`).
 */
export class AddressLimit extends Construct {
  constructor(scope: Construct, id: string, { instance, requests, stageArn }: AddressLimitProps) {
    super(scope, id);
    const watched = (metricName: string) => ({
      metricName,
      cloudWatchMetricsEnabled: true,
      // Samples show paths and headers of requests, tokens included.
      sampledRequestsEnabled: false,
    });
    const acl = new CfnWebACL(this, 'Acl', {
      description: `${instance}: requests of one address`,
      // Of a REST API, wherever its endpoint is regional.
      scope: 'REGIONAL',
      defaultAction: { allow: {} },
      visibilityConfig: watched(`${instance}-web-acl`),
      rules: [
        {
          name: 'requests-of-an-address',
          priority: 0,
          action: { block: {} },
          statement: {
            rateBasedStatement: { aggregateKeyType: 'IP', limit: requests, evaluationWindowSec: 300 },
          },
          visibilityConfig: watched(`${instance}-requests-of-an-address`),
        },
      ],
    });
    new CfnWebACLAssociation(this, 'Stage', { resourceArn: stageArn, webAclArn: acl.attrArn });
  }
}
