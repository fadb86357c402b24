//! An exporter that sends spans through the mask first.

use crate::mask::Mask;
use opentelemetry::trace::Status;
use opentelemetry::{Array, KeyValue, StringValue, Value};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug)]
pub(super) struct Masked<E> {
    pub(super) exporter: E,
    pub(super) mask: Arc<Mask>,
}

impl<E: SpanExporter> SpanExporter for Masked<E> {
    async fn export(&self, mut batch: Vec<SpanData>) -> OTelSdkResult {
        for span in &mut batch {
            self.mask_name(&mut span.name);
            self.mask_attributes(&mut span.attributes);
            for event in &mut span.events.events {
                self.mask_name(&mut event.name);
                self.mask_attributes(&mut event.attributes);
            }
            if let Status::Error { description } = &mut span.status {
                self.mask_name(description);
            }
        }
        self.exporter.export(batch).await
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

impl<E> Masked<E> {
    fn mask_name(&self, name: &mut Cow<'static, str>) {
        if let Cow::Owned(masked) = self.mask.apply(name) {
            *name = Cow::Owned(masked);
        }
    }

    fn mask_attributes(&self, attributes: &mut [KeyValue]) {
        for attribute in attributes {
            match &mut attribute.value {
                Value::String(text) => self.mask_text(text),
                Value::Array(Array::String(texts)) => texts.iter_mut().for_each(|text| self.mask_text(text)),
                // Numbers and booleans hold no credential.
                _ => {}
            }
        }
    }

    fn mask_text(&self, text: &mut StringValue) {
        if let Cow::Owned(masked) = self.mask.apply(text.as_str()) {
            *text = masked.into();
        }
    }
}
