# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Networks of transformers, made from small configurations: two layers of width 64."""

from __future__ import annotations

from functools import partial
from typing import Any

from network import Input, Network, adapt, in_family

# What most configurations of text call their sizes.
TEXT = {
    "vocab_size": 99,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
}
DECODER = {**TEXT, "num_key_value_heads": 2, "head_dim": 16, "use_cache": False}
GPT = {"vocab_size": 99, "n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 64,
       "bos_token_id": 1, "eos_token_id": 2, "use_cache": False}  # fmt: skip
VISION = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "image_size": 64,
    "patch_size": 16,
}
SEQUENCE = 24
IDS = Input("input_ids", (1, SEQUENCE), "int64", low=3, high=99)
MASK = Input("attention_mask", (1, SEQUENCE), "int64", low=1, high=2)
SOUND = Input("input_values", (1, 4000))
IMAGE = 64


def pixels(size: int) -> tuple[Input, ...]:
    return (Input("pixel_values", (1, 3, size, size)),)


def make(model: str, config: str, inputs: tuple[Input, ...], outputs: tuple[str, ...],
         fields: dict[str, Any]) -> Any:  # fmt: skip
    """A network of that class, from that configuration."""
    import transformers

    configuration = getattr(transformers, config)(**fields)
    module = getattr(transformers, model)(configuration)
    return adapt(module, [x.name for x in inputs], outputs)


def row(name: str, model: str, config: str, fields: dict[str, Any], *inputs: Input,
        outputs: tuple[str, ...] = ("last_hidden_state",), **others: Any) -> tuple[Any, ...]:  # fmt: skip
    return name, partial(make, model, config, inputs, outputs, fields), {"inputs": inputs, **others}


ROTARY = {**DECODER, "rope_theta": 10000.0}
LOGITS = {"outputs": ("logits",)}
TORCHSCRIPT = {"exporter": "torchscript"}

ENCODERS = in_family(
    "text encoder",
    row("bert", "BertModel", "BertConfig", TEXT, IDS, MASK),
    row("bert_batch", "BertModel", "BertConfig", TEXT, IDS, MASK, batch=3),
    row("bert_torchscript", "BertModel", "BertConfig", TEXT, IDS, MASK, **TORCHSCRIPT),
    row("bert_masked_lm", "BertForMaskedLM", "BertConfig", TEXT, IDS, **LOGITS),
    row("roberta", "RobertaModel", "RobertaConfig", TEXT, IDS, MASK),
    row("xlm_roberta", "XLMRobertaModel", "XLMRobertaConfig", TEXT, IDS, **TORCHSCRIPT),
    row("camembert", "CamembertForTokenClassification", "CamembertConfig", TEXT, IDS, **LOGITS),
    row("distilbert", "DistilBertModel", "DistilBertConfig",
        {"vocab_size": 99, "dim": 64, "n_layers": 2, "n_heads": 4, "hidden_dim": 128}, IDS, MASK),
    row("distilbert_torchscript", "DistilBertForSequenceClassification", "DistilBertConfig",
        {"vocab_size": 99, "dim": 64, "n_layers": 2, "n_heads": 4, "hidden_dim": 128}, IDS, MASK,
        **LOGITS, **TORCHSCRIPT),
    row("albert", "AlbertModel", "AlbertConfig", {**TEXT, "embedding_size": 32}, IDS, MASK),
    row("deberta", "DebertaModel", "DebertaConfig",
        {**TEXT, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]}, IDS, MASK),
    row("deberta_v2", "DebertaV2Model", "DebertaV2Config",
        {**TEXT, "relative_attention": True, "pos_att_type": ["p2c", "c2p"],
         "position_buckets": 16}, IDS, MASK),
    row("electra", "ElectraModel", "ElectraConfig", {**TEXT, "embedding_size": 32}, IDS, MASK),
    row("mobilebert", "MobileBertModel", "MobileBertConfig",
        {**TEXT, "embedding_size": 32, "intra_bottleneck_size": 32}, IDS, MASK),
    row("mpnet", "MPNetModel", "MPNetConfig", TEXT, IDS, MASK),
    row("squeezebert", "SqueezeBertModel", "SqueezeBertConfig",
        {**TEXT, "embedding_size": 64}, IDS, MASK),
    row("convbert", "ConvBertModel", "ConvBertConfig", {**TEXT, "embedding_size": 64}, IDS, MASK),
    row("roformer", "RoFormerModel", "RoFormerConfig", {**TEXT, "embedding_size": 64}, IDS, MASK),
    row("nystromformer", "NystromformerModel", "NystromformerConfig",
        {**TEXT, "segment_means_seq_len": SEQUENCE, "num_landmarks": 8}, IDS,
        # The mask that the library would make of two dimensions does not fit its landmarks.
        Input("attention_mask", (1, 1, 1, SEQUENCE))),
    row("fnet", "FNetModel", "FNetConfig", TEXT, IDS),
    row("layoutlm", "LayoutLMModel", "LayoutLMConfig", TEXT, IDS,
        Input("bbox", (1, SEQUENCE, 4), "int64", low=5, high=6)),
    row("modernbert", "ModernBertModel", "ModernBertConfig",
        {**TEXT, "global_attn_every_n_layers": 2, "local_attention": 8}, IDS, MASK),
    row("xlnet", "XLNetModel", "XLNetConfig",
        {"vocab_size": 99, "d_model": 64, "n_layer": 2, "n_head": 4, "d_inner": 128}, IDS),
    row("funnel", "FunnelModel", "FunnelConfig",
        {"vocab_size": 99, "block_sizes": [1, 1], "d_model": 64, "n_head": 4, "d_head": 16,
         "d_inner": 128}, IDS, MASK),
)  # fmt: skip

DECODERS = in_family(
    "text decoder",
    row("gpt2", "GPT2LMHeadModel", "GPT2Config", GPT, IDS, **LOGITS),
    row("gpt2_batch", "GPT2Model", "GPT2Config", GPT, IDS, MASK, batch=2),
    row("gpt2_torchscript", "GPT2Model", "GPT2Config", GPT, IDS, MASK, **TORCHSCRIPT),
    row("gpt_neo", "GPTNeoModel", "GPTNeoConfig",
        {"vocab_size": 99, "hidden_size": 64, "num_layers": 2, "num_heads": 4,
         "attention_types": [[["global", "local"], 1]], "window_size": 8,
         "max_position_embeddings": 64, "use_cache": False}, IDS),
    row("gpt_neox", "GPTNeoXForCausalLM", "GPTNeoXConfig", {**TEXT, "use_cache": False}, IDS,
        **LOGITS),
    row("gptj", "GPTJModel", "GPTJConfig", {**GPT, "rotary_dim": 8}, IDS),
    row("codegen", "CodeGenModel", "CodeGenConfig", {**GPT, "rotary_dim": 8, "n_head": 4}, IDS),
    row("bloom", "BloomModel", "BloomConfig",
        {"vocab_size": 99, "hidden_size": 64, "n_layer": 2, "n_head": 4, "use_cache": False}, IDS,
        MASK),
    row("opt", "OPTModel", "OPTConfig",
        {**TEXT, "ffn_dim": 128, "word_embed_proj_dim": 64, "use_cache": False}, IDS, MASK),
    row("llama", "LlamaForCausalLM", "LlamaConfig", DECODER, IDS, **LOGITS),
    row("llama_batch", "LlamaModel", "LlamaConfig", DECODER, IDS, MASK, batch=2),
    row("llama_torchscript", "LlamaModel", "LlamaConfig", DECODER, IDS, MASK, **TORCHSCRIPT),
    row("mistral", "MistralModel", "MistralConfig", {**DECODER, "sliding_window": 8}, IDS),
    row("mixtral", "MixtralModel", "MixtralConfig",
        {**DECODER, "num_local_experts": 4, "num_experts_per_tok": 2,
         "experts_implementation": "batched_mm"}, IDS),
    row("qwen2", "Qwen2ForCausalLM", "Qwen2Config", DECODER, IDS, **LOGITS),
    row("qwen3", "Qwen3Model", "Qwen3Config", DECODER, IDS, MASK),
    row("phi", "PhiModel", "PhiConfig", {**TEXT, "use_cache": False}, IDS),
    row("phi3", "Phi3Model", "Phi3Config", {**TEXT, "use_cache": False}, IDS),
    row("gemma", "GemmaModel", "GemmaConfig", DECODER, IDS),
    row("gemma2", "Gemma2Model", "Gemma2Config", {**DECODER, "sliding_window": 8}, IDS),
    row("gemma3", "Gemma3TextModel", "Gemma3TextConfig", {**DECODER, "sliding_window": 8}, IDS),
    row("olmo", "OlmoModel", "OlmoConfig", DECODER, IDS),
    row("olmo2", "Olmo2Model", "Olmo2Config", DECODER, IDS),
    row("cohere", "CohereModel", "CohereConfig", DECODER, IDS),
    row("stablelm", "StableLmModel", "StableLmConfig", DECODER, IDS),
    row("starcoder2", "Starcoder2Model", "Starcoder2Config", DECODER, IDS),
    row("granite", "GraniteModel", "GraniteConfig", DECODER, IDS),
    row("smollm3", "SmolLM3Model", "SmolLM3Config", DECODER, IDS),
    row("falcon", "FalconModel", "FalconConfig", {**TEXT, "use_cache": False}, IDS),
    row("mpt", "MptModel", "MptConfig",
        {"vocab_size": 99, "d_model": 64, "n_layers": 2, "n_heads": 4, "max_seq_len": 64,
         "use_cache": False}, IDS),
    row("mamba", "MambaModel", "MambaConfig",
        {"vocab_size": 99, "hidden_size": 64, "num_hidden_layers": 2, "state_size": 8,
         "use_cache": False}, Input("input_ids", (1, 8), "int64", low=3, high=99)),
)  # fmt: skip

DECODER_IDS = Input("decoder_input_ids", (1, 8), "int64", low=3, high=99)
T5 = {"vocab_size": 99, "d_model": 64, "d_kv": 16, "d_ff": 128, "num_layers": 2, "num_heads": 4,
      "use_cache": False}  # fmt: skip
BART = {"vocab_size": 99, "d_model": 64, "encoder_layers": 2, "decoder_layers": 2,
        "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 128,
        "decoder_ffn_dim": 128, "max_position_embeddings": 64, "use_cache": False,
        "pad_token_id": 0, "decoder_start_token_id": 1, "bos_token_id": 1,
        "eos_token_id": 2, "forced_eos_token_id": None}  # fmt: skip

ENCODER_DECODERS = in_family(
    "text encoder and decoder",
    row("t5_encoder", "T5EncoderModel", "T5Config", T5, IDS, MASK),
    row("t5", "T5ForConditionalGeneration", "T5Config", T5, IDS, DECODER_IDS, **LOGITS),
    row("t5_torchscript", "T5EncoderModel", "T5Config", T5, IDS, **TORCHSCRIPT),
    row("mt5", "MT5Model", "MT5Config", T5, IDS, DECODER_IDS),
    row("bart", "BartModel", "BartConfig", BART, IDS, DECODER_IDS),
    row("mbart", "MBartModel", "MBartConfig", BART, IDS, DECODER_IDS),
    row("marian", "MarianModel", "MarianConfig", BART, IDS, DECODER_IDS),
    row("pegasus", "PegasusModel", "PegasusConfig", BART, IDS, DECODER_IDS),
    row("m2m_100", "M2M100Model", "M2M100Config", BART, IDS, DECODER_IDS),
    row("blenderbot", "BlenderbotModel", "BlenderbotConfig", BART, IDS, DECODER_IDS),
)

WHISPER = {**BART, "num_mel_bins": 16, "max_source_positions": 50, "max_target_positions": 32}
WAV2VEC = {**TEXT, "conv_dim": [32, 32, 32], "conv_stride": [5, 4, 4], "conv_kernel": [10, 4, 4],
           "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4,
           "num_feat_extract_layers": 3}  # fmt: skip

SPEECH = in_family(
    "speech",
    row("whisper", "WhisperModel", "WhisperConfig", WHISPER,
        Input("input_features", (1, 16, 100)), DECODER_IDS),
    row("wav2vec2", "Wav2Vec2Model", "Wav2Vec2Config", WAV2VEC, SOUND),
    row("wav2vec2_ctc", "Wav2Vec2ForCTC", "Wav2Vec2Config", WAV2VEC, SOUND, **LOGITS,
        **TORCHSCRIPT),
    row("hubert", "HubertModel", "HubertConfig", WAV2VEC, SOUND),
    row("wavlm", "WavLMModel", "WavLMConfig", WAV2VEC, SOUND),
    row("data2vec_audio", "Data2VecAudioModel", "Data2VecAudioConfig",
        {**WAV2VEC, "num_conv_pos_embeddings": 2, "conv_pos_kernel_size": 3}, SOUND),
    row("ast", "ASTModel", "ASTConfig",
        {**VISION, "num_mel_bins": 32, "max_length": 64, "frequency_stride": 8, "time_stride": 8},
        Input("input_values", (1, 64, 32))),
    row("hifigan", "SpeechT5HifiGan", "SpeechT5HifiGanConfig",
        {"model_in_dim": 16, "upsample_initial_channel": 32, "upsample_rates": [4, 4],
         "upsample_kernel_sizes": [8, 8], "resblock_kernel_sizes": [3],
         "resblock_dilation_sizes": [[1, 3]]},
        Input("spectrogram", (1, 20, 16)), outputs=()),
)  # fmt: skip

# With weights as small as the library draws them, what convolutions compute
# vanishes from layer to layer.
WIDE = {"initializer_range": 0.1}
SWIN = {"image_size": 64, "patch_size": 4, "embed_dim": 16, "depths": [2, 2], "num_heads": [2, 4],
        "window_size": 4}  # fmt: skip
CLIP = {
    "text_config": {**TEXT, "eos_token_id": 2, "bos_token_id": 1, "projection_dim": 32},
    "vision_config": {**VISION, "projection_dim": 32},
    "projection_dim": 32,
}

IMAGES = in_family(
    "vision transformer",
    *(
        row(name, f"{prefix}Model", f"{prefix}Config", fields, *pixels(IMAGE), **others)
        for name, prefix, fields, others in (
            ("hf_vit", "ViT", VISION, {}),
            ("hf_vit_torchscript", "ViT", VISION, TORCHSCRIPT),
            ("hf_deit", "DeiT", VISION, {"batch": 2}),
            ("hf_beit", "Beit", {**VISION, "use_relative_position_bias": True}, {}),
            ("hf_data2vec_vision", "Data2VecVision", VISION, {}),
            ("dinov2", "Dinov2", VISION, {}),
            ("dinov2_registers", "Dinov2WithRegisters", VISION, {}),
            ("dinov3", "DINOv3ViT", VISION, {}),
            ("ijepa", "IJepa", VISION, {}),
            ("vit_msn", "ViTMSN", VISION, {}),
            ("hf_swin", "Swin", SWIN, {}),
            ("hf_swin_torchscript", "Swin", SWIN, TORCHSCRIPT),
            ("hf_swinv2", "Swinv2", SWIN, {}),
            ("donut_swin", "DonutSwin", SWIN, {}),
            ("hf_pvt", "Pvt", {"image_size": 64, "depths": [1, 1, 1, 1],
                               "hidden_sizes": [16, 32, 64, 64],
                               "num_attention_heads": [1, 2, 4, 4]}, {}),
            ("hf_poolformer", "PoolFormer", {"hidden_sizes": [16, 32, 64, 64],
                                             "depths": [1, 1, 1, 1]}, {}),
            ("hf_convnextv2", "ConvNextV2", {"hidden_sizes": [16, 32, 64, 64],
                                             "depths": [1, 1, 2, 1]}, {}),
            ("hf_regnet", "RegNet", {"embedding_size": 16, "hidden_sizes": [16, 32, 64, 64],
                                     "depths": [1, 1, 2, 1], "groups_width": 16}, TORCHSCRIPT),
            ("hf_mobilevit", "MobileViT", {"hidden_sizes": [32, 48, 64], "image_size": 64,
                                           "neck_hidden_sizes": [16, 16, 32, 32, 48, 64, 96],
                                           **WIDE}, {}),
            ("hf_levit", "Levit", {**WIDE, "image_size": 64, "hidden_sizes": [32, 48, 64],
                                            "depths": [1, 1, 1],
                                            "num_attention_heads": [2, 3, 4]}, {}),
            ("hf_cvt", "Cvt", {"embed_dim": [16, 32, 64], "depth": [1, 2, 3],
                               "num_heads": [1, 2, 4]}, {}),
            ("hiera", "Hiera", {"embed_dim": 16, "image_size": [64, 64], "depths": [1, 1, 2, 1],
                                "num_heads": [1, 2, 4, 8]}, {}),
        )
    ),
    row("siglip_vision", "SiglipVisionModel", "SiglipVisionConfig", VISION, *pixels(IMAGE)),
    row("siglip2_text", "SiglipTextModel", "SiglipTextConfig", TEXT, IDS),
    row("clip_vision", "CLIPVisionModelWithProjection", "CLIPVisionConfig", VISION,
        *pixels(IMAGE), outputs=("image_embeds",)),
    row("clip_text", "CLIPTextModel", "CLIPTextConfig", {**TEXT, "eos_token_id": 98}, IDS),
    row("clip", "CLIPModel", "CLIPConfig", CLIP, IDS, *pixels(IMAGE),
        outputs=("logits_per_image", "logits_per_text")),
    row("mae", "ViTMAEModel", "ViTMAEConfig", VISION, *pixels(IMAGE),
        Input("noise", (1, 16))),
    row("videomae", "VideoMAEModel", "VideoMAEConfig", {**VISION, "num_frames": 4},
        Input("pixel_values", (1, 4, 3, IMAGE, IMAGE))),
    row("timesformer", "TimesformerModel", "TimesformerConfig", {**VISION, "num_frames": 2},
        Input("pixel_values", (1, 2, 3, IMAGE, IMAGE))),
)  # fmt: skip

SEGMENTATION = in_family(
    "segmentation",
    row("hf_segformer", "SegformerForSemanticSegmentation", "SegformerConfig",
        {"depths": [1, 1, 1, 1], "hidden_sizes": [16, 32, 48, 64], "decoder_hidden_size": 32},
        *pixels(128), **LOGITS, **TORCHSCRIPT),
    row("hf_mobilevit_deeplab", "MobileViTForSemanticSegmentation", "MobileViTConfig",
        {"hidden_sizes": [32, 48, 64], "image_size": 64,
         "neck_hidden_sizes": [16, 16, 32, 32, 48, 64, 96], "aspp_out_channels": 32, **WIDE},
        *pixels(128), **LOGITS),
    row("dpt", "DPTForDepthEstimation", "DPTConfig",
        {**VISION, "num_hidden_layers": 4, "backbone_out_indices": [0, 1, 2, 3],
         "neck_hidden_sizes": [16, 32, 48, 64], "fusion_hidden_size": 16,
         "head_in_index": -1}, *pixels(IMAGE), outputs=("predicted_depth",)),
    row("glpn", "GLPNForDepthEstimation", "GLPNConfig",
        {"depths": [1, 1, 1, 1], "hidden_sizes": [16, 32, 48, 64], "decoder_hidden_size": 16,
         "num_attention_heads": [1, 2, 3, 4]},
        *pixels(128), outputs=("predicted_depth",)),
    row("clipseg_vision", "CLIPSegVisionModel", "CLIPSegVisionConfig", VISION, *pixels(IMAGE)),
    row("swin2sr", "Swin2SRForImageSuperResolution", "Swin2SRConfig",
        {"image_size": 32, "embed_dim": 32, "depths": [2, 2], "num_heads": [2, 2],
         "window_size": 8, "upscale": 2}, *pixels(32), outputs=("reconstruction",)),
)  # fmt: skip

DETR = {"use_timm_backbone": False, "use_pretrained_backbone": False, "backbone": None,
        "backbone_config": {"model_type": "resnet", "embedding_size": 16, "depths": [1, 1, 1, 1],
                            "hidden_sizes": [16, 32, 48, 64], "layer_type": "basic",
                            "out_features": ["stage4"]},
        "d_model": 64, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
        "decoder_attention_heads": 4, "encoder_ffn_dim": 128, "decoder_ffn_dim": 128,
        "num_queries": 10}  # fmt: skip
DEFORMABLE = {**DETR, "num_feature_levels": 2, "backbone_config": {
    **DETR["backbone_config"], "out_features": ["stage3", "stage4"]}}  # fmt: skip
RT_DETR = {
    "backbone_config": {
        "model_type": "rt_detr_resnet", "embedding_size": 16, "depths": [1, 1, 1, 1],
        "hidden_sizes": [16, 32, 48, 64], "layer_type": "basic",
        "out_features": ["stage2", "stage3", "stage4"]},
    "encoder_hidden_dim": 32, "encoder_in_channels": [32, 48, 64], "encoder_ffn_dim": 64,
    "d_model": 32, "num_queries": 10, "decoder_in_channels": [32, 32, 32], "decoder_layers": 2,
    "decoder_attention_heads": 4, "decoder_ffn_dim": 64, "encoder_attention_heads": 4,
    "hidden_expansion": 0.5}  # fmt: skip
BOXES = {"outputs": ("logits", "pred_boxes")}

DETECTION = in_family(
    "detection",
    row("detr", "DetrForObjectDetection", "DetrConfig", DETR, *pixels(128), **BOXES),
    row("detr_torchscript", "DetrForObjectDetection", "DetrConfig", DETR, *pixels(128),
        **BOXES, **TORCHSCRIPT),
    row("table_transformer", "TableTransformerForObjectDetection", "TableTransformerConfig", DETR,
        *pixels(128), **BOXES),
    row("conditional_detr", "ConditionalDetrForObjectDetection", "ConditionalDetrConfig", DETR,
        *pixels(128), **BOXES),
    row("deformable_detr", "DeformableDetrForObjectDetection", "DeformableDetrConfig", DEFORMABLE,
        *pixels(128), **BOXES),
    row("rt_detr", "RTDetrForObjectDetection", "RTDetrConfig", RT_DETR, *pixels(128), **BOXES),
    row("yolos", "YolosForObjectDetection", "YolosConfig",
        {**VISION, "image_size": [64, 64], "num_detection_tokens": 10}, *pixels(IMAGE), **BOXES),
    row("yolos_torchscript", "YolosForObjectDetection", "YolosConfig",
        {**VISION, "image_size": [64, 64], "num_detection_tokens": 10}, *pixels(IMAGE), **BOXES,
        **TORCHSCRIPT),
    row("owlvit_vision", "OwlViTVisionModel", "OwlViTVisionConfig", VISION, *pixels(IMAGE)),
)  # fmt: skip

SERIES = in_family(
    "time series",
    row("patchtst", "PatchTSTForPrediction", "PatchTSTConfig",
        {"num_input_channels": 3, "context_length": 32, "patch_length": 8, "patch_stride": 8,
         "d_model": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "ffn_dim": 64,
         "prediction_length": 8, "use_cls_token": False}, Input("past_values", (1, 32, 3)),
        outputs=("prediction_outputs",)),
    row("patchtsmixer", "PatchTSMixerForPrediction", "PatchTSMixerConfig",
        {"num_input_channels": 3, "context_length": 32, "patch_length": 8, "patch_stride": 8,
         "d_model": 16, "num_layers": 2, "prediction_length": 8}, Input("past_values", (1, 32, 3)),
        outputs=("prediction_outputs",)),
)  # fmt: skip

TRANSFORMERS_NETWORKS: tuple[Network, ...] = (
    *ENCODERS,
    *DECODERS,
    *ENCODER_DECODERS,
    *SPEECH,
    *IMAGES,
    *SEGMENTATION,
    *DETECTION,
    *SERIES,
)
