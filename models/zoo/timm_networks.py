# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Classifiers of timm, on small images where the network takes them."""

from __future__ import annotations

from functools import partial

from library_networks import from_timm
from network import Network

# Networks of convolutions take images of any size.
CONVOLUTIONAL = """
    resnet10t resnet26t legacy_seresnet18 skresnet18 resnest14d res2net50_26w_4s hrnet_w18_small
    cspresnet50 darknetaa53 dpn68 ese_vovnet19b_slim_dw fbnetc_100 spnasnet_100 semnasnet_075
    mixnet_s tinynet_e ghostnet_050 ghostnetv2_100 ghostnetv3_050 hardcorenas_a lcnet_050
    mobilenetv3_small_050 mobilenetv1_100 mobileone_s0 repvgg_a0 repghostnet_050 repvit_m1
    rexnet_100 selecsls42 nf_resnet26 eca_nfnet_l0 convmixer_768_32 convnext_atto convnextv2_atto
    edgenext_xx_small efficientnet_lite0 hgnet_tiny hgnetv2_b0 inception_next_atto xception41
    mambaout_femto poolformerv2_s12 starnet_s1 tf_efficientnet_b0 tf_mixnet_s
    tf_mobilenetv3_small_minimal_100 tresnet_m regnetz_005 resnetv2_18 fasternet_t0 rdnet_tiny
    mobilenet_edgetpu_v2_xs gcresnext26ts convnext_zepto_rms shvit_s1 efficientvit_b0
""".split()

# Others take the size that they are made for.
ATTENTION = """
    xcit_nano_12_p16_224 pit_ti_224 pvt_v2_b0 twins_svt_small twins_pcpvt_small volo_d1_224
    cait_xxs24_224 deit_tiny_patch16_224 deit3_small_patch16_224 coat_lite_tiny coat_tiny convit_tiny
    crossvit_tiny_240 davit_tiny efficientformer_l1 efficientformerv2_s0 efficientvit_m0 fastvit_t8
    focalnet_tiny_srf gcvit_xxtiny gmlp_ti16_224 gmixer_12_224 resmlp_12_224 mixer_s32_224
    hiera_tiny_224 levit_128s levit_conv_128s maxvit_rmlp_pico_rw_256 coatnet_pico_rw_224
    caformer_s18 mobilevitv2_050 mobilevit_xxs mvitv2_tiny nest_tiny nextvit_small sequencer2d_s
    swiftformer_xs swin_s3_tiny_224 swinv2_cr_tiny_224 swinv2_tiny_window8_256 tiny_vit_5m_224
    tnt_s_patch16_224 visformer_tiny vit_tiny_patch16_224 vit_relpos_small_patch16_224
    vit_srelpos_small_patch16_224 vitamin_small_224 eva02_tiny_patch14_224 botnet26t_256
    halonet26t lambda_resnet26t eca_botnext26ts_256 mobilenetv4_hybrid_medium
""".split()

IMAGES = {
    "crossvit_tiny_240": 240,
    "maxvit_rmlp_pico_rw_256": 256,
    "swinv2_tiny_window8_256": 256,
    "botnet26t_256": 256,
    "halonet26t": 256,
    "eca_botnext26ts_256": 256,
}

# These are exported by the older exporter.
TORCHSCRIPT = {"resnest14d", "ghostnet_050", "repvit_m1", "hgnet_tiny", "xcit_nano_12_p16_224",
               "pit_ti_224", "davit_tiny", "levit_128s", "mobilevitv2_050", "swin_s3_tiny_224",
               "tiny_vit_5m_224", "coat_lite_tiny", "eva02_tiny_patch14_224", "convnextv2_atto",
               "mixer_s32_224", "efficientformer_l1", "gcvit_xxtiny", "rexnet_100"}  # fmt: skip

# These have a symbol for the batch, which is then compiled for this size.
BATCHES = {"resnet26t": 3, "deit_tiny_patch16_224": 2, "convnext_atto": 2, "pvt_v2_b0": 2,
           "mobilevit_xxs": 2, "mixnet_s": 4, "levit_conv_128s": 2, "hardcorenas_a": 5}  # fmt: skip


def row(name: str, family: str, image: int) -> Network:
    return Network(
        name,
        family,
        partial(from_timm, name),
        image=IMAGES.get(name, image),
        exporter="torchscript" if name in TORCHSCRIPT else "dynamo",
        batch=BATCHES.get(name),
    )


TIMM_NETWORKS = (
    *(row(name, "classifier", 96) for name in CONVOLUTIONAL),
    *(row(name, "vision transformer", 224) for name in ATTENTION),
)
