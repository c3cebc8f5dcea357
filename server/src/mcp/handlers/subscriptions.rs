//! `resources/subscribe`, `resources/unsubscribe` and `subscriptions/listen`.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Context, Outcome, lifecycle, required_string};
use crate::{
    error::Fault,
    json_rpc,
    mcp::protocol::{Params, SubscriptionFilter, check_repeated},
    subscriptions::{Listen, Lists, Subscription},
};

/// From now on the client's stream tells of changes. A resource that is not there yet can be watched as well.
pub(crate) fn resources_subscribe(
    context: &Context<'_>,
    params: &Params<'_>,
) -> Result<Outcome, Fault> {
    let uri = required_string(params.uri, "uri")?;
    subscription(context)?.watch(&uri)?;
    Ok(lifecycle::empty(context))
}

/// Ends that; also where there was none.
pub(crate) fn resources_unsubscribe(
    context: &Context<'_>,
    params: &Params<'_>,
) -> Result<Outcome, Fault> {
    let uri = required_string(params.uri, "uri")?;
    subscription(context)?.unwatch(&uri);
    Ok(lifecycle::empty(context))
}

fn subscription<'a>(context: &Context<'a>) -> Result<&'a Arc<Subscription>, Fault> {
    context.subscription.ok_or_else(|| {
        Fault::invalid_request(
            "subscriptions need a session: send `initialize` and the Mcp-Session-Id of its answer",
        )
    })
}

/// The members of a `SubscriptionFilter` that we serve; others are not honoured and so not looked at.
#[derive(Deserialize)]
struct Filter<'a> {
    #[serde(borrow, rename = "promptsListChanged")]
    prompts_list_changed: Option<&'a RawValue>,
    #[serde(borrow, rename = "resourcesListChanged")]
    resources_list_changed: Option<&'a RawValue>,
    #[serde(borrow, rename = "resourceSubscriptions")]
    resource_subscriptions: Option<&'a RawValue>,
}

/// A stream of what the client asks for; the transport opens it.
pub(crate) fn subscriptions_listen(
    context: &Context<'_>,
    params: &Params<'_>,
) -> Result<Outcome, Fault> {
    check_repeated("the id of a listen", context.id)?;
    let filter = params
        .notifications
        .filter(|raw| raw.get().starts_with('{'))
        .ok_or_else(|| Fault::invalid_params("`notifications` must be an object"))?;
    let filter: Filter<'_> = serde_json::from_str(filter.get())
        .map_err(|_| Fault::invalid_request("a member of `notifications` is given twice"))?;
    let lists = Lists {
        resources: flag("resourcesListChanged", filter.resources_list_changed)?,
        prompts: flag("promptsListChanged", filter.prompts_list_changed)?,
    };
    let resource_subscriptions =
        filter.resource_subscriptions.map_or_else(|| Ok(Vec::new()), uris)?;
    Ok(Outcome::Listen(Listen {
        id: context.id.into(),
        filter: SubscriptionFilter { lists, resource_subscriptions },
        access: Arc::clone(context.mcp.access()),
    }))
}

fn flag(name: &str, raw: Option<&RawValue>) -> Result<bool, Fault> {
    match raw.map(RawValue::get) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(Fault::invalid_params(format!("`{name}` must be true or false"))),
    }
}

fn uris(raw: &RawValue) -> Result<Vec<String>, Fault> {
    let wrong = || Fault::invalid_params("`resourceSubscriptions` must be an array of strings");
    let elements: Vec<&RawValue> = serde_json::from_str(raw.get()).map_err(|_| wrong())?;
    let strings = elements.into_iter().map(json_rpc::string);
    strings.map(|uri| uri.map(|uri| uri.into_owned()).ok_or_else(wrong)).collect()
}
