//! The methods that are served, and in which eras.

use prometheus_client::encoding::EncodeLabelValue;

use super::protocol::Era;

/// A method; also a metric's label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// `initialize`.
    Initialize,
    /// `ping`.
    Ping,
    /// `server/discover`.
    ServerDiscover,
    /// `resources/list`.
    ResourcesList,
    /// `resources/templates/list`.
    ResourcesTemplatesList,
    /// `resources/read`.
    ResourcesRead,
    /// `completion/complete`.
    CompletionComplete,
    /// `prompts/list`.
    PromptsList,
    /// `prompts/get`.
    PromptsGet,
    /// `resources/subscribe`.
    ResourcesSubscribe,
    /// `resources/unsubscribe`.
    ResourcesUnsubscribe,
    /// `subscriptions/listen`.
    SubscriptionsListen,
    /// `tools/list`.
    ToolsList,
    /// `tools/call`.
    ToolsCall,
    /// `logging/setLevel`.
    LoggingSetLevel,
    /// Any notification.
    Notification,
    /// A batch of messages.
    Batch,
    /// A method that is not served, or a body in which none can be read.
    Other,
}

// === impl Method ===

impl Method {
    /// How many there are.
    pub const COUNT: usize = Method::Other as usize + 1;

    /// The method of that name, where the era has it.
    pub fn served(name: &str, era: Era) -> Option<Self> {
        let method = match name {
            "resources/read" => Method::ResourcesRead,
            "resources/list" => Method::ResourcesList,
            "resources/templates/list" => Method::ResourcesTemplatesList,
            "completion/complete" => Method::CompletionComplete,
            "prompts/list" => Method::PromptsList,
            "prompts/get" => Method::PromptsGet,
            "tools/list" => Method::ToolsList,
            "tools/call" => Method::ToolsCall,
            "resources/subscribe" if era == Era::Legacy => Method::ResourcesSubscribe,
            "resources/unsubscribe" if era == Era::Legacy => Method::ResourcesUnsubscribe,
            "subscriptions/listen" if era == Era::Modern => Method::SubscriptionsListen,
            "logging/setLevel" if era == Era::Legacy => Method::LoggingSetLevel,
            "initialize" if era == Era::Legacy => Method::Initialize,
            "ping" if era == Era::Legacy => Method::Ping,
            "server/discover" if era == Era::Modern => Method::ServerDiscover,
            _ => return None,
        };
        Some(method)
    }

    /// The name in metrics and logs.
    pub fn label(self) -> &'static str {
        match self {
            Method::Initialize => "initialize",
            Method::Ping => "ping",
            Method::ServerDiscover => "server/discover",
            Method::ResourcesList => "resources/list",
            Method::ResourcesTemplatesList => "resources/templates/list",
            Method::ResourcesRead => "resources/read",
            Method::CompletionComplete => "completion/complete",
            Method::PromptsList => "prompts/list",
            Method::PromptsGet => "prompts/get",
            Method::ResourcesSubscribe => "resources/subscribe",
            Method::ResourcesUnsubscribe => "resources/unsubscribe",
            Method::SubscriptionsListen => "subscriptions/listen",
            Method::ToolsList => "tools/list",
            Method::ToolsCall => "tools/call",
            Method::LoggingSetLevel => "logging/setLevel",
            Method::Notification => "notification",
            Method::Batch => "batch",
            Method::Other => "other",
        }
    }

    /// A small number for tables.
    pub fn index(self) -> usize {
        self as usize
    }
}

impl EncodeLabelValue for Method {
    fn encode(
        &self,
        encoder: &mut prometheus_client::encoding::LabelValueEncoder<'_>,
    ) -> Result<(), std::fmt::Error> {
        EncodeLabelValue::encode(&self.label(), encoder)
    }
}
